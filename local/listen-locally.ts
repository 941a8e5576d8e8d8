import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ListeningServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** Cuts what is under way; resolves when the port is free. */
  close(): Promise<void>;
}

/** Lets a server listen on 127.0.0.1 and a free port. */
export async function listenLocally(server: Server): Promise<ListeningServer> {
  // Connections stay open until the end: a client whose idle connection is closed just when it sends sees a reset.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
