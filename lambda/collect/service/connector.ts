import { promises as dns, type LookupAddress } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type TLSSocket } from 'node:tls';

/** Milliseconds without traffic after which the operating system asks whether the other side is still there. */
const keepAliveMs = 1000;

/**
 * Which part of the time for a connection one address of several gets before the next is tried. The last has all that is left.
 * Node gives each a quarter of a second: a service that is farther away, behind a name with an address that is not to be
 * reached, such as one of IPv6, would never be.
 */
const shareOfAddress = 1 / 3;

/** `tls.connect` itself calls this function, which Node does not document; without it a session is not resumed. */
type SessionSocket = TLSSocket & { setSession?(session: Buffer): void };

/** Opens connections to one origin. What makes the next one cheaper is kept: the addresses, and the TLS session. */
export class Connector {
  /** Opens one connection. */
  readonly open: () => Socket;
  /** The socket's event when it may be used. */
  readonly openedBy: 'connect' | 'secureConnect';
  #addresses: Promise<LookupAddress[]> | undefined;
  #tlsSession: Buffer | undefined;

  /**
   * @param caCertificate PEM text of the only authorities trusted; left out: the runtime's own
   * @param connectMs how long its user waits for a connection, in milliseconds
   */
  constructor({ protocol, hostname, port }: URL, caCertificate: string | undefined, connectMs: number) {
    const isTls = protocol !== 'http:';
    const host = hostname.replace(/^\[|\]$/g, '');
    const address = {
      host,
      port: Number(port) || (isTls ? 443 : 80),
      lookup: this.#lookUp,
      // Then the addresses are looked up all at once, as they are kept.
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: Math.ceil(connectMs * shareOfAddress),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
    };
    this.openedBy = isTls ? 'secureConnect' : 'connect';
    if (!isTls) {
      this.open = () => this.#watched(connectTcp(address));
      return;
    }
    // Made once: reading the certificates of the authorities costs as much as half a handshake.
    const secureContext = createSecureContext({ ca: caCertificate });
    this.open = () => {
      const socket: SessionSocket = connectTls({
        ...address,
        servername: isIP(host) === 0 ? host : '',
        ALPNProtocols: ['http/1.1'],
        secureContext,
      });
      // Node reads a session that is among the options of a connection twice, at a fifth of a millisecond each time.
      if (this.#tlsSession !== undefined) socket.setSession?.(this.#tlsSession);
      // Node 20 and 22 ignore noDelay for TLS. A connection's first request would wait 40 ms, until the server has
      // confirmed the end of the handshake.
      socket.setNoDelay();
      this.#keepSession(socket);
      return this.#watched(socket);
    };
  }

  /** One session serves all connections until the service no longer resumes it: to read each new one costs as much as it saves. */
  #keepSession(socket: TLSSocket): void {
    if (this.#tlsSession === undefined)
      socket.on('session', (session) => {
        this.#tlsSession = session;
      });
    else
      socket.once('secureConnect', () => {
        if (!socket.isSessionReused()) this.#tlsSession = undefined;
      });
  }

  readonly #lookUp: LookupFunction = (hostname, options, callback) => {
    this.#addresses ??= dns.lookup(hostname, { ...options, all: true });
    this.#addresses.then(
      (addresses) => callback(null, addresses),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

  /** After a failure the name is looked up again: the service may have moved. The user of the socket gets the error too. */
  #watched(socket: Socket): Socket {
    return socket.on('error', () => {
      this.#addresses = undefined;
    });
  }
}
