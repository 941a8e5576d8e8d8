import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/**
 * One connection to the service. HTTP/1.1 does not say which request an answer belongs to: what comes next counts as the
 * answer to the request before it. So every byte is accounted for. One that no request asked for discredits the
 * connection, and with it the answer that came before.
 */
export class Connection {
  readonly socket: Socket;
  readonly #onUnasked: (connection: Connection) => void;
  #uses = 0;
  #unasked: string | undefined;
  /** The answer that is on its way; undefined while nothing is asked for. */
  #answer: AnswerBytes | undefined;

  /** @param onUnasked called once, when the first byte has come that nobody asked for */
  constructor(socket: Socket, onUnasked: (connection: Connection) => void) {
    this.socket = socket;
    this.#onUnasked = onUnasked;
    // The error goes to whoever waits for the connection or for an answer; unheard, it would end the process.
    socket.on('error', () => undefined);
    // Before the parser's own listener, which is added for each request.
    socket.on('data', (chunk: Buffer) => this.#count(chunk));
    // Node would stop reading at the end of an answer with "Connection: close", and not see what follows it.
    socket.destroySoon = () => socket.end();
  }

  /** Requests that were sent over it. */
  get uses(): number {
    return this.#uses;
  }

  /** What came that nobody asked for, in words. */
  get unasked(): string | undefined {
    return this.#unasked;
  }

  /** Whether another request may be sent over it. */
  get isOpen(): boolean {
    return this.#unasked === undefined && this.socket.writable && !this.socket.destroyed;
  }

  /**
   * Sends a GET.
   * @returns the answer once its head has arrived
   * @throws whatever ends the connection before
   */
  ask(path: string, headers: OutgoingHttpHeaders): Promise<IncomingMessage> {
    const { socket } = this;
    const answer = new AnswerBytes();
    this.#answer = answer;
    this.#uses += 1;
    return new Promise((resolve, reject) => {
      // On a connection that has ended already, Node's client would wait for ever.
      if (!this.isOpen) throw connectionEnded('ECONNRESET');
      const request = httpRequest({ createConnection: () => socket, setHost: false, path, headers });
      // Not once: a broken connection may report more than one error.
      request.on('error', reject);
      request.on('information', () => answer.endHead());
      request.once('response', (response) => {
        if (answer.begin(response)) this.#discredit('more bytes came than its Content-Length declares');
        resolve(response);
      });
      // Nobody asked for another protocol, and without a listener the request would never end.
      request.once('upgrade', (response) => {
        socket.destroy();
        resolve(response);
      });
      answer.afterParsing = () => {
        // If the packet has more bytes behind the answer, the parser destroys the socket; at a second answer, without
        // an error.
        if (answer.isComplete && socket.destroyed) this.#discredit('bytes followed the end of its answer');
      };
      // The parser's own listener is there by now, and is called before this one.
      request.once('socket', () => socket.on('data', answer.afterParsing));
      request.end();
    });
  }

  /** To be called when the answer has been read to its end and nothing is asked for. */
  rest(): void {
    if (this.#answer !== undefined) this.socket.off('data', this.#answer.afterParsing);
    this.#answer = undefined;
  }

  #count(chunk: Buffer): void {
    if (this.#answer === undefined) {
      this.socket.destroy();
      // How some servers say that they close a connection which was idle for too long (RFC 9110, section 15.5.9).
      const isFarewell = this.#uses > 0 && /^HTTP\/1\.[01] 408 /.test(chunk.toString('latin1', 0, 13));
      if (!isFarewell) this.#discredit('bytes came while nothing was asked for');
      return;
    }
    const isComplete = this.#answer.isComplete;
    if (this.#answer.add(chunk)) this.#discredit('more bytes came than its Content-Length declares');
    else if (isComplete) this.#discredit('bytes followed the end of its answer');
  }

  #discredit(what: string): void {
    if (this.#unasked !== undefined) return;
    this.#unasked = what;
    this.#onUnasked(this);
  }
}

/** The connection has ended before it was used. @param code one of Node's for connections */
export function connectionEnded(code: 'ECONNRESET' | 'ECONNABORTED'): Error {
  return Object.assign(new Error('The connection has ended'), { code });
}

/** Characters of a head after which no more are kept: Node refuses a longer head, but not blank lines without end before it. */
const longestHead = 1024 * 1024;

/** Counts the bytes of one answer as far as it takes to tell whether more came than it declares. */
class AnswerBytes {
  /** Called when the parser has read a packet. */
  afterParsing: () => void = () => undefined;
  #response: IncomingMessage | undefined;
  #received = 0;
  #most = Number.POSITIVE_INFINITY;
  /** What came behind the last head, until the answer's own has come. */
  #text = '';

  /** Whether the parser has seen its end. */
  get isComplete(): boolean {
    return this.#response?.complete === true;
  }

  /** To be called before the parser gets the bytes. @returns whether they are more than was declared */
  add(chunk: Buffer): boolean {
    this.#received += chunk.length;
    if (this.#response === undefined && this.#text.length < longestHead) this.#text += chunk.toString('latin1');
    return this.#received > this.#most;
  }

  /** To be called when the parser has read a head. Some come before the answer's own, such as "100 Continue". */
  endHead(): void {
    this.#text = this.#text.replace(/^[\s\S]*?\n\r?\n/, '');
  }

  /** To be called when it has read the answer's own. @returns whether more came with it than it declares */
  begin(response: IncomingMessage): boolean {
    this.#response = response;
    this.endHead();
    const { 'content-length': length, 'transfer-encoding': coding } = response.headers;
    if (length !== undefined && coding === undefined) this.#most = this.#received - this.#text.length + Number(length);
    this.#text = '';
    return this.#received > this.#most;
  }
}

/**
 * Resolves when everything that had arrived by now has been read: the event loop has looked at all connections once more.
 */
export function arrivalsRead(): Promise<void> {
  return new Promise((resolve) => {
    // The first turn ends the round that is under way, the second one a whole round.
    setImmediate(() => setImmediate(resolve));
  });
}
