import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { doubts } from '../body/doubts';
import { ServiceError } from './service-error';

/**
 * How long to wait for bytes behind an answer that does not show its end by itself, in milliseconds, if the service keeps
 * the connection open: a length that is too small leaves the rest of the body behind it.
 */
const silenceMs = 5;

/** Words by which the name or the value of a trailer says that the answer before it is not whole. */
const errorWords =
  /(?<![a-z])(errors?|fail(s|ed|ure)?|abort(s|ed)?|cancell?ed|incomplete|truncated|time(d[ -]?)?out)(?![a-z])/i;

/** Values by which a trailer with such a name says that there was no error. */
const noError = /^(0|no|none|null|false|ok|)$/i;

/** Longest part of the trailers that a message shows, in UTF-16 code units. */
const longestShown = 200;

/** Watches how the answer to one request ends: whether bytes follow it, and which trailers it has. */
export class AnswerEnd {
  #response: IncomingMessage | undefined;
  #socket: Socket | undefined;
  #wasComplete = false;
  #isFollowed = false;

  /** @param isAlone whether the request has a connection of its own: any other is soon used by the next request */
  constructor(request: ClientRequest, isAlone: boolean) {
    request.once('response', (response) => {
      this.#response = response;
      if (!isAlone) response.once('end', () => this.stop());
    });
    request.once('socket', (socket) => {
      this.#socket = socket;
      // Node's parser has its listener already, so it reads each packet first.
      socket.on('data', this.#look);
    });
  }

  /**
   * Call this when the body was read to its end, or is known to be wrong.
   * @param waits whether to wait for what may follow: until the service closes the connection, or some milliseconds
   * @throws ServiceError `cut` with the bare reason
   */
  async check(waits: boolean): Promise<void> {
    if (waits && !this.#isFollowed) await this.#silence();
    if (this.#isFollowed) throw this.#cut('bytes followed the end of its answer; its Content-Length may be wrong');
    const error = this.#trailers.find(
      ([name, value]) => errorWords.test(value) || (errorWords.test(name) && !noError.test(value.trim())),
    );
    if (error !== undefined) throw this.#cut(`the trailer behind its body says ${shown(error.join(': '))}`);
  }

  /** Why the answer is doubted, in words. */
  get doubt(): string | undefined {
    const names = this.#trailers.map(([name]) => name).join(', ');
    return names === '' ? undefined : doubts.trailers(shown(names));
  }

  /** Call this once the answer is over, in every outcome. */
  stop(): void {
    this.#socket?.off('data', this.#look);
  }

  get #trailers(): [string, string][] {
    return Object.entries(this.#response?.trailers ?? {}).map(([name, value = '']) => [name, value]);
  }

  readonly #look = () => {
    const isComplete = this.#response?.complete === true;
    // The parser destroys the socket if it finds more in the packet in which the answer ends.
    if (isComplete && (this.#wasComplete || this.#socket?.destroyed)) this.#isFollowed = true;
    this.#wasComplete = isComplete;
  };

  async #silence(): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined || socket.readableEnded || socket.destroyed) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, silenceMs);
      for (const event of ['end', 'close'])
        socket.once(event, () => {
          clearTimeout(timer);
          resolve();
        });
    });
    // What arrived meanwhile is read: the first turn ends the round of the event loop that is under way, the second one a
    // whole round.
    await setImmediate();
    await setImmediate();
  }

  #cut(reason: string): ServiceError {
    return new ServiceError(reason, 'cut', { status: 200 });
  }
}

function shown(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
