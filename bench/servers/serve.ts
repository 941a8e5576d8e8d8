import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** One server of the benchmark. */
export interface BenchServer {
  /** Applies new settings and clears the counts. */
  reset(settings: unknown): void | Promise<void>;
  /** What was counted since the last reset. */
  stats(): Record<string, unknown>;
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** Messages from the parent process. */
export type ServerCommand = { readonly reset: unknown } | 'stats';

/**
 * Serves over TLS on a free port of the loopback interface, as a process of its own. The first message to the parent is
 * the port; then every command gets one message back. The arguments are the PEM files of key and certificate.
 */
export function serve({ reset, stats, answer }: BenchServer): void {
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
  const obey = async (command: ServerCommand) => {
    if (command === 'stats') {
      const { user, system } = process.cpuUsage(cpu);
      process.send?.({ ...stats(), cpuMs: (user + system) / 1000 });
      return;
    }
    await reset(command.reset);
    cpu = process.cpuUsage();
    process.send?.({});
  };
  process.on('message', (command: ServerCommand) => {
    obey(command).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
  process.on('disconnect', () => process.exit());
  // A contender without a limit opens thousands of connections at once.
  server.listen({ port: 0, host: '127.0.0.1', backlog: 16_384 }, () =>
    process.send?.({ port: (server.address() as AddressInfo).port }),
  );
}
