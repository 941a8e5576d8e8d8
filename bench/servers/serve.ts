import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** What one server of the benchmark does. */
export interface Serving {
  /** Forgets what was, and works with new settings from now on. */
  reset(settings: unknown): void;
  /** What was seen since the last reset. */
  stats(): Record<string, unknown>;
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** Commands of the parent process. */
export type ServerCommand = { readonly reset: unknown } | 'stats';

/**
 * Serves over TLS at a free port of the loopback, as a process of its own: the parent learns the port first, and each
 * command is answered by one message. The certificate's PEM files are the arguments.
 */
export function serve({ reset, stats, answer }: Serving): void {
  const [keyFile = '', certFile = ''] = process.argv.slice(2);
  const server = createServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy();
      console.error(error);
    });
  });
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  let cpu = process.cpuUsage();
  process.on('message', (command: ServerCommand) => {
    if (command === 'stats') {
      const { user, system } = process.cpuUsage(cpu);
      process.send?.({ ...stats(), cpuMs: (user + system) / 1000 });
      return;
    }
    reset(command.reset);
    cpu = process.cpuUsage();
    process.send?.({});
  });
  process.on('disconnect', () => process.exit());
  // A fleet without bounds opens thousands of connections at once.
  server.listen({ port: 0, host: '127.0.0.1', backlog: 16_384 }, () =>
    process.send?.({ port: (server.address() as AddressInfo).port }),
  );
}
