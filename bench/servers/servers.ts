import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Built } from '../build';
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

type Answering = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Serves over TLS on a free port of the loopback interface. */
async function serve({ key, cert }: Built['tls'], answer: Answering) {
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
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
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

let cpu = process.cpuUsage();
/** Whether the job reads an archive back. */
let isReading = false;

async function answerAsAws(request: IncomingMessage, response: ServerResponse): Promise<void> {
  return isReading ? answerAsArchive(request, response) : answerAsSink(request, response);
}

/**
 * Prepares what the job asks for, and clears what was counted.
 * @param archive folder of the archive that the job reads back
 */
async function reset(job: Job, archive?: string): Promise<void> {
  isReading = archive !== undefined;
  if (archive !== undefined) resetArchive(job, archive);
  else await resetService(job);
  resetSink(job);
  cpu = process.cpuUsage();
}

function stats(): ServerStats {
  const { user, system } = process.cpuUsage(cpu);
  return { ...counts, sentObjects, wireBytes: sentBytes, serverCpuMs: (user + system) / 1000 };
}

export type Servers = Awaited<ReturnType<typeof startServers>>;

/** Starts cluster service and archive in this process. @param tls PEM files of key and certificate */
export async function startServers(tls: Built['tls']) {
  const [service, aws] = [await serve(tls, answerAsService), await serve(tls, answerAsAws)];
  return {
    urls: { serviceUrl: service.url, awsUrl: aws.url },
    reset,
    stats,
    close: () => {
      service.close();
      aws.close();
    },
  };
}
