import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Built } from '../build';
import { type Machine, pinTo } from '../machine';

/** Messages to a server. It answers each with one message. */
type Command<Settings> = { readonly reset: Settings } | 'stats';

/** One server of the benchmark. */
interface BenchServer<Settings, Stats> {
  /** Applies new settings and clears the counts. */
  reset(settings: Settings): void | Promise<void>;
  /** What was counted since the last reset. */
  stats(): Stats;
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/**
 * Serves over TLS on a free port of the loopback interface, as a process of its own. The first message to the parent is
 * the port. The arguments are the PEM files of key and certificate.
 */
export function serve<Settings, Stats>({ reset, stats, answer }: BenchServer<Settings, Stats>): void {
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
  const obey = async (command: Command<Settings>) => {
    if (command === 'stats') {
      const { user, system } = process.cpuUsage(cpu);
      process.send?.({ ...stats(), cpuMs: (user + system) / 1000 });
      return;
    }
    await reset(command.reset);
    cpu = process.cpuUsage();
    process.send?.({});
  };
  process.on('message', (command: Command<Settings>) => {
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

/** A server as its parent process sees it. */
export interface ServerProcess<Settings, Stats> {
  readonly url: string;
  /** Applies new settings and clears what was counted. */
  reset(settings: Settings): Promise<void>;
  /** What was counted since, and the processor time in milliseconds. */
  stats(): Promise<Stats & { readonly cpuMs: number }>;
  close(): void;
}

/**
 * Starts a program that calls `serve`, in the Node that runs the contenders too.
 * @param program name of its file
 * @throws {Error} now, or from what is asked of the server, if its process ended
 */
export async function startServer<Settings, Stats>(
  program: string,
  { programs, tls }: Built,
  machine: Machine,
): Promise<ServerProcess<Settings, Stats>> {
  const [command, args] = pinTo(machine, 'servers', [machine.node, [join(programs, program), tls.key, tls.cert]]);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`Running the benchmark failed: its server ${program} ended with ${signal ?? code}`);
  });
  const answer = async () => {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message;
  };
  const tell = (command: Command<Settings>) => {
    child.send(command as object);
    return answer();
  };
  const { port } = await answer();
  return {
    url: `https://127.0.0.1:${port}`,
    reset: (settings) => tell({ reset: settings }),
    stats: () => tell('stats'),
    close: () => child.disconnect(),
  };
}
