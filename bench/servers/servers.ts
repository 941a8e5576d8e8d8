import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Job } from '../workload';
import { answerAsArchive, resetArchive, sentObjects } from './archive-server';
import { answerAsService, resetService, sentBytes } from './cluster-service';
import { answerAsSink, counts, resetSink, type SinkStats } from './object-sink';

/** What both servers counted since they were reset. */
export interface ServerStats extends SinkStats {
  /** Objects of an archive that were sent. */
  readonly sentObjects: number;
  /** Bytes of bodies that the service sent. */
  readonly wireBytes: number;
  /** Processor time in milliseconds. */
  readonly serverCpuMs: number;
}

/** Serves over TLS on a free port of the loopback interface. Returns the address. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<string> {
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
/** The job, if it reads an archive back. */
let reading: Job | undefined;

async function answerAsAws(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (reading === undefined) return answerAsSink(request, response);
  request.resume();
  return answerAsArchive(request, response, reading.sinkLatencyMs);
}

async function reset(job: Job): Promise<object> {
  resetSink(job);
  if (job.reads?.from === 'https') resetArchive(job.reads);
  reading = job.reads && job;
  if (job.reads === undefined) await resetService(job);
  cpu = process.cpuUsage();
  return {};
}

function stats(): ServerStats {
  const { user, system } = process.cpuUsage(cpu);
  return { ...counts, sentObjects, wireBytes: sentBytes, serverCpuMs: (user + system) / 1000 };
}

/** Both servers of the benchmark, as a process of its own. The arguments are the PEM files of key and certificate. */
async function begin(): Promise<void> {
  const urls = { serviceUrl: await serve(answerAsService), awsUrl: await serve(answerAsAws) };
  process.on('message', async (told: Job | 'stats') => process.send?.(told === 'stats' ? stats() : await reset(told)));
  process.on('disconnect', () => process.exit());
  process.send?.(urls);
}

void begin();
