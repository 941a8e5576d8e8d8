import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { logMessages } from '../../lambda/stack-contract';
import { type ListeningServer, listenLocally } from '../../local/listen-locally';
import { tracesOf } from '../support/traces-of';
import type { DeployedCollector } from './local-collector';

/** The secret part of the address: whoever knows it can say that all is well. */
export const path = '/ping/4f1d-who-knows-this-can-say-that-all-is-well';

/** A monitoring service outside: what it was told in this test, and what it answers. */
interface MonitoringService {
  readonly address: string;
  readonly told: readonly { readonly path: string | undefined; readonly body: unknown }[];
  /** Statuses of its next answers; 200 behind them. */
  answers: number[];
}

/** One for each test; hooks start and close it. */
export function useMonitoringService(): MonitoringService {
  let server: ListeningServer;
  const told: { path: string | undefined; body: unknown }[] = [];
  const service: MonitoringService = {
    get address() {
      return `${server.url}${path}`;
    },
    told,
    answers: [],
  };
  beforeEach(async () => {
    told.length = 0;
    service.answers = [];
    server = await listenLocally(
      createServer(async (request, response) => {
        told.push({ path: request.url, body: JSON.parse(await text(request)) });
        // A redirect leads to the service itself, so that a client that follows it is seen.
        response.writeHead(service.answers.shift() ?? 200, { location: '/elsewhere' }).end('not read');
      }),
    );
  });
  afterEach(() => server.close());
  return service;
}

/** The lines of the log that say that a heartbeat was lost. */
export const lost = ({ logs }: DeployedCollector): string =>
  logs.filter((line) => line.includes(logMessages.heartbeat)).join();

/** How many lost heartbeats the functions have counted. */
export const counted = ({ logs }: DeployedCollector): number =>
  logs.filter((line) => line.includes('"HeartbeatsLost":1')).length;

/** The address is in nothing that the functions said, sent or stored. */
export async function expectNoTrace(deployed: DeployedCollector, address = path): Promise<void> {
  const said = [...deployed.logs, JSON.stringify(deployed.messages), JSON.stringify(await deployed.records())];
  expect(tracesOf(address).filter((trace) => said.some((line) => line.includes(trace)))).toEqual([]);
}
