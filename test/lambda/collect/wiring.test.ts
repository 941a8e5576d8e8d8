import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import type { Context } from 'aws-lambda';
import type { Configuration } from '../../../archive/format/configuration';
import { parseEvent } from '../../../lambda/collect/event';
import type { wire } from '../../../lambda/collect/wiring';
import { configurationFile } from '../../../lambda/stack-contract';

const collection: Configuration = {
  service: { baseUrl: 'http://127.0.0.1:9', collection: 'c', projectUid: 'project-of-all' },
  clusters: [{ uid: 'a' }],
  limits: { concurrency: 7, requestsPerSecond: 0.001, maxBodyMiB: 1, responseTimeoutSeconds: 1 },
  schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
};
const invocation = {
  awsRequestId: 'request-1',
  functionVersion: '$LATEST',
  getRemainingTimeInMillis: () => 100_000,
} as Context;

let directory: string;
let wiring: ReturnType<typeof wire>;
let attempt: Awaited<ReturnType<typeof wiring.openAttempt>>;

beforeAll(async () => {
  directory = await mkdtemp(join(os.tmpdir(), 'execution-environment-'));
  // An attempt empties the spool directory, which must not be another's.
  jest.spyOn(os, 'tmpdir').mockReturnValue(directory);
  await mkdir(join(directory, 'cluster-log-collector'));
  await writeFile(join(directory, 'cluster-log-collector', 'left-over'), 'by an attempt that was killed');
  await writeFile(join(directory, configurationFile), JSON.stringify(collection));
  const { wire } = await import('../../../lambda/collect/wiring');
  const variables = { ARCHIVE_BUCKET: 'archive', API_KEY_SECRET: 'key', STACK: 'collector' };
  wiring = wire(variables, directory);
  attempt = await wiring.openAttempt(parseEvent({}, wiring.clusters, new Date()), invocation);
});

afterAll(async () => {
  attempt.close();
  jest.restoreAllMocks();
});

it('what is configured reaches the attempt', () => {
  expect(attempt.context.configuration).toEqual(collection);
});

it('a warm environment keeps no key of an earlier attempt', async () => {
  const next = await wiring.openAttempt(parseEvent({}, wiring.clusters, new Date()), invocation);
  next.close();
  expect(next.context.keys).not.toBe(attempt.context.keys);
});
