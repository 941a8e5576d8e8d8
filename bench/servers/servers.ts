import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { answerAsService, resetService, sentBytes } from './cluster-service';
import { answerAsSink, counts, resetSink } from './object-sink';
import type { ServerSettings, ServerStats } from './start-servers';

/** Serves over TLS on a free port of the loopback interface. Returns the address. */
async function serve(answer: (...exchange: Parameters<RequestListener>) => Promise<void>): Promise<string> {
  const [key = '', cert = ''] = process.argv.slice(2).map((file) => readFileSync(file, 'utf8'));
  const server = createServer({ key, cert }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy();
      console.error(error);
    });
  });
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  // A contender without a limit opens thousands of connections at once.
  server.listen({ port: 0, host: '127.0.0.1', backlog: 16_384 });
  await once(server, 'listening');
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let cpu = process.cpuUsage();

/** Applies new settings, or says what was counted since the last ones. */
async function obey(command: ServerSettings | 'stats'): Promise<ServerStats | object> {
  if (command === 'stats') {
    const { user, system } = process.cpuUsage(cpu);
    return { ...counts, wireBytes: sentBytes, serverCpuMs: (user + system) / 1000 } satisfies ServerStats;
  }
  resetSink(command);
  await resetService(command);
  cpu = process.cpuUsage();
  return {};
}

/** Both servers of the benchmark, as a process of its own. The arguments are the PEM files of key and certificate. */
async function begin(): Promise<void> {
  const urls = { serviceUrl: await serve(answerAsService), awsUrl: await serve(answerAsSink) };
  process.on('message', async (command: ServerSettings | 'stats') => process.send?.(await obey(command)));
  process.on('disconnect', () => process.exit());
  process.send?.(urls);
}

void begin();
