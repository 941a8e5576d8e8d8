import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DemoAnswers, type DemoServiceOptions } from './demo-answer';

export type { DemoServiceOptions } from './demo-answer';

export interface DemoService {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** Cuts what is under way; resolves when the port is free. */
  close(): Promise<void>;
}

/** Starts a cluster service that follows the service contract, on 127.0.0.1 and a free port. */
export async function startDemoService(options: DemoServiceOptions): Promise<DemoService> {
  const answers = new DemoAnswers(options);
  const server = createServer((request, response) => void answers.answer(request, response));
  // Without a limit: a connection that is closed as idle could carry a request at that moment.
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
