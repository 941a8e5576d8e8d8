import { EventEmitter, once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { AnswerProof } from './answer-proof';
import { arrivalsRead, Connection, connectionEnded } from './connection';
import type { ResourceRequest } from './resource-request';

/** Milliseconds without traffic after which the operating system asks whether the other side is still there. */
const keepAliveMs = 1000;

/** The connections to one origin: a bounded number, used again as long as nothing speaks against them. */
export class Connections {
  readonly #openSocket: () => Socket;
  readonly #openedBy: 'connect' | 'secureConnect';
  readonly #limit: number;
  readonly #proof: AnswerProof;
  readonly #all = new Set<Connection>();
  /** In the order of their last use. */
  readonly #idle: Connection[] = [];
  /** Says `freed` when a connection has come back or has ended. */
  readonly #events = new EventEmitter().setMaxListeners(0);
  #isClosed = false;
  /** Spares a new connection half of the handshake. */
  #tlsSession: Buffer | undefined;

  /**
   * @param caCertificate PEM text of the only authorities trusted; left out: the runtime's own
   * @param limit connections at once
   * @param proof chooses among idle connections, and hears which one has brought what nobody asked for
   */
  constructor({ protocol, hostname, port }: URL, caCertificate: string | undefined, limit: number, proof: AnswerProof) {
    this.#limit = limit;
    this.#proof = proof;
    const isTls = protocol !== 'http:';
    const host = hostname.replace(/^\[|\]$/g, '');
    const address = {
      host,
      port: Number(port) || (isTls ? 443 : 80),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
    };
    this.#openedBy = isTls ? 'secureConnect' : 'connect';
    if (!isTls) {
      this.#openSocket = () => connectTcp(address);
      return;
    }
    // Made once: reading the certificates of the authorities costs as much as half a handshake.
    const secureContext = createSecureContext({ ca: caCertificate });
    this.#openSocket = () => {
      const socket = connectTls({
        ...address,
        servername: isIP(host) === 0 ? host : '',
        ALPNProtocols: ['http/1.1'],
        secureContext,
        session: this.#tlsSession,
      });
      // Node 20 and 22 ignore noDelay for TLS. A connection's first request would wait 40 ms, until the server has
      // confirmed the end of the handshake.
      socket.setNoDelay();
      socket.on('session', (session) => {
        this.#tlsSession = session;
      });
      return socket;
    };
  }

  /**
   * A connection that no other request uses and that has nothing left to be read. To be given back with {@link keep}, or
   * destroyed.
   * @throws what keeps a connection from being made; the signal's reason, or an AbortError, when it aborts
   */
  async take(request: ResourceRequest, signal: AbortSignal): Promise<Connection> {
    for (;;) {
      const kept = this.#proof.choose(request, this.#idle);
      if (kept !== undefined) {
        this.#idle.splice(this.#idle.indexOf(kept), 1);
        await arrivalsRead();
        if (kept.isOpen) return kept;
        continue;
      }
      if (this.#isClosed) throw connectionEnded('ECONNABORTED');
      if (this.#all.size < this.#limit) return this.#connect(signal);
      const oldest = this.#idle.shift();
      if (oldest === undefined) await once(this.#events, 'freed', { signal });
      else this.#end(oldest);
    }
  }

  /** Takes back a connection whose answer was read to its end and believed. */
  keep(connection: Connection): void {
    connection.rest();
    if (!connection.isOpen) {
      this.#end(connection);
      return;
    }
    this.#idle.push(connection);
    this.#events.emit('freed');
  }

  /** Ends all connections, also those that are in use. */
  close(): void {
    this.#isClosed = true;
    // Who waits gets an error. An idle connection needs none: Node writes out its stack, and reads a source map for that.
    for (const connection of this.#all)
      connection.socket.destroy(this.#idle.includes(connection) ? undefined : connectionEnded('ECONNABORTED'));
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const socket = this.#openSocket();
    const connection = new Connection(socket, (unasked) => this.#proof.discredit(unasked));
    this.#all.add(connection);
    socket.once('close', () => this.#forget(connection));
    try {
      await once(socket, this.#openedBy, { signal });
    } catch (error) {
      this.#end(connection);
      throw error;
    }
    await arrivalsRead();
    return connection;
  }

  #end(connection: Connection): void {
    connection.socket.destroy();
    this.#forget(connection);
  }

  #forget(connection: Connection): void {
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    if (this.#all.delete(connection)) this.#events.emit('freed');
  }
}
