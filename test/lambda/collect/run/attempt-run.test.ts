import type { Configuration } from '../../../../archive/format/configuration';
import { objectKey, runRecordKey } from '../../../../archive/format/keys';
import { taskName } from '../../../../archive/format/run-record';
import { ArchiveReadError } from '../../../../archive/read';
import type { RunRequest } from '../../../../lambda/collect/event';
import { DryArchive, type PutResult } from '../../../../lambda/collect/put/s3-archive';
import { type AttemptContext, attemptRun } from '../../../../lambda/collect/run/attempt-run';
import { RecordStore } from '../../../../lambda/collect/run/record-store';
import { RunIncompleteError, RunNotFoundError } from '../../../../lambda/collect/run/run-errors';
import type { ResourceRequest } from '../../../../lambda/collect/service/resource-request';
import { RunStopped, Stop } from '../../../../lambda/stop';
import { FakeArchive } from '../../../support/fake-archive';
import { FakeReporter } from '../../../support/fake-reporter';
import { answer, FakeService, statusError } from '../../../support/fake-service';
import { recordText } from '../../../support/record-text';
import { VirtualClock } from '../../../support/virtual-clock';

const run = new Date('2026-11-20T09:00:00.000Z');
const recordKey = runRecordKey({ run, attempt: 1 });
const scheduled: RunRequest = { run, completes: false, scheduled: true, dryRun: false };

const configuration: Configuration = {
  service: { baseUrl: 'http://127.0.0.1:9', collection: 'c', projectUid: 'shared' },
  clusters: [{ uid: 'a' }, { uid: 'b', projectUid: 'own', requestId: 'rb' }, { uid: 'c', resources: ['manifest'] }],
  limits: { concurrency: 2, maxBodyMiB: 1, responseTimeoutSeconds: 1 },
  schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
};

function setUp(
  archive: FakeArchive,
  script: ConstructorParameters<typeof FakeService>[0],
  { concurrency = 2, clusters = configuration.clusters, store = async () => undefined } = {},
) {
  const clock = new VirtualClock();
  const stop = new Stop(() => 600_000);
  stops.push(stop);
  const service = new FakeService(script);
  const reporter = new FakeReporter();
  const context: AttemptContext = {
    configuration: { ...configuration, clusters, limits: { ...configuration.limits, concurrency } },
    provenance: { collectorVersion: '1.0.0', functionVersion: '1', invocation: 'i', configuration: '0'.repeat(64) },
    stack: { name: 'my-collector', region: 'eu-central-1' },
    clock,
    stop,
    service,
    reporter,
    archive,
    records: new RecordStore(archive, archive),
    storeConfiguration: store,
    keys: { current: async () => 'key', afterRejection: async () => 'key' },
  };
  return { clock, stop, service, context, reporter };
}

const stops: Stop[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop.close();
});

const failing = (cluster: string) => (_nth: number, _key: string, request: { cluster: string }) =>
  request.cluster === cluster ? statusError(404) : answer();

describe('an attempt of a run', () => {
  it('archives every configured cluster x resource and records each outcome', async () => {
    const archive = new FakeArchive();
    const { context, service } = setUp(archive, () => answer({ facts: { state: 'Ready', logLength: 3 } }));
    const summary = await attemptRun(scheduled, context);
    expect(summary).toMatchObject({
      run: '2026-11-20T09:00:00.000Z',
      attempt: 1,
      status: 'complete',
      counts: { archived: 5, alreadyArchived: 0, failed: 0, notAttempted: 0 },
      record: `s3://archive/${recordKey}`,
    });
    const [record] = archive.records;
    expect(record?.outcomes.map(({ cluster, resource }) => `${cluster} ${resource}`)).toEqual([
      'a log',
      'a manifest',
      'b log',
      'b manifest',
      'c manifest',
    ]);
    expect(record?.outcomes[0]).toEqual({
      cluster: 'a',
      resource: 'log',
      outcome: 'archived',
      key: objectKey({ resource: 'log', cluster: 'a', run }),
      bytes: 10,
      receivedBytes: 10,
      storedBytes: 6,
      sha256: 'ab'.repeat(32),
      httpStatus: 200,
      requests: 1,
      durationMs: 0,
      fetchedAt: '2026-11-20T10:00:00.000Z',
      mediaType: 'application/json',
      state: 'Ready',
      logLength: 3,
    });
    expect(archive.objects.sort()).toEqual(record?.outcomes.map(({ key }) => key).sort());
    expect(
      service.requests.map(({ cluster, projectUid, requestId }) => [cluster, projectUid, requestId]).sort(),
    ).toEqual([
      ['a', 'shared', undefined],
      ['a', 'shared', undefined],
      ['b', 'own', 'rb'],
      ['b', 'own', 'rb'],
      ['c', 'shared', undefined],
    ]);
  });

  it('attempts everything although one cluster fails, records that, and then fails truthfully', async () => {
    const archive = new FakeArchive();
    const { context, reporter } = setUp(archive, failing('a'));
    const error = await attemptRun(scheduled, context).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RunIncompleteError);
    expect((error as Error).message.split('\n')).toEqual([
      'Attempt 1 of run 2026-11-20T09:00:00.000Z is incomplete (2 of 5 not archived): 2 failed, 0 not attempted; most of all for: 404 Not Found.',
      '2 failed, one reason: 404 Not Found',
      '- log of cluster a: status 404',
      '- manifest of cluster a: status 404',
      `Run record with every outcome: s3://archive/${recordKey}`,
      'The next attempt collects what is missing. After the last attempt, complete the run with',
      '  npm run collector -- run --stack my-collector --region eu-central-1 --run 2026-11-20T09:00:00.000Z',
      'or by invoking with {"run":"2026-11-20T09:00:00.000Z"}.',
    ]);
    expect(archive.objects).toHaveLength(3);
    expect(archive.records[0]).toMatchObject({ status: 'incomplete', counts: { archived: 3, failed: 2 } });
    expect(archive.records[0]?.outcomes[0]).toMatchObject({ outcome: 'failed', httpStatus: 404, error: 'status 404' });
    expect(reporter.summaries).toHaveLength(1);
  });

  it('without a record of a killed attempt asks again, overwrites nothing, and claims no hash', async () => {
    const archive = new FakeArchive();
    await attemptRun(scheduled, setUp(archive, () => answer()).context);
    archive.stored.delete(recordKey);
    const before = new Map(archive.stored);
    const summary = await attemptRun(scheduled, setUp(archive, () => answer({ sha256: 'cd'.repeat(32) })).context);
    expect(summary).toMatchObject({ attempt: 1, counts: { archived: 0, alreadyArchived: 5 } });
    expect([...archive.stored]).toEqual(expect.arrayContaining([...before]));
    for (const outcome of archive.records[0]?.outcomes ?? []) expect(outcome).not.toHaveProperty('sha256');
  });

  it('leaves no record if the machine slept meanwhile, and the next one records what it archived', async () => {
    const archive = new FakeArchive();
    let sleptMs = 0;
    const { context, clock } = setUp(archive, () => {
      sleptMs = 3 * 3_600_000;
      return answer();
    });
    const now = clock.now.bind(clock);
    Object.assign(clock, { now: () => new Date(now().getTime() + sleptMs) });
    await expect(attemptRun(scheduled, context)).rejects.toThrow(/^Recording the attempt of run .* failed: /);
    expect(archive.stored.has(recordKey)).toBe(false);
    const next = setUp(archive, () => answer());
    expect(await attemptRun(scheduled, next.context)).toMatchObject({ attempt: 1, status: 'complete' });
  });

  it('does not believe a record that names another key than its own', async () => {
    const archive = new FakeArchive();
    await attemptRun(scheduled, setUp(archive, () => answer()).context);
    const key = 'logs/cluster=x/date=2026-11-20/other.json.gz';
    const [record] = archive.records.map((own) => ({ ...own, outcomes: own.outcomes.map((one) => ({ ...one, key })) }));
    archive.stored.set(recordKey, Buffer.from(record ? recordText(record) : ''));
    const { context, service } = setUp(archive, () => answer());
    await attemptRun(scheduled, context);
    expect(service.requests).toHaveLength(5);
  });

  const refuse = async () => {
    throw new Error('403 AccessDenied');
  };
  const refuseToList = async function* () {
    yield await refuse();
  };
  it.each<[string, (archive: FakeArchive) => unknown]>([
    ['a record that is damaged', ({ stored }) => stored.set(recordKey, Buffer.from('x'))],
    ['a record that the archive does not give', (archive) => Object.assign(archive, { open: refuse })],
    ['any history when the records cannot be listed', (archive) => Object.assign(archive, { list: refuseToList })],
  ])('goes on without %s, and says so', async (_what, spoil) => {
    const archive = new FakeArchive();
    await attemptRun(scheduled, setUp(archive, () => answer()).context);
    spoil(archive);
    const { context, reporter } = setUp(archive, () => answer());
    expect(await attemptRun(scheduled, context)).toMatchObject({ attempt: 2, counts: { alreadyArchived: 5 } });
    expect(reporter.warnings).toEqual(['run record not used']);
  });

  it.each([
    2 ** 53 - 1,
    2 ** 53,
    1e20,
  ])('is numbered and recorded although somebody has put an object with the attempt number %p there', async (attempt) => {
    const archive = new FakeArchive();
    archive.stored.set(runRecordKey({ run, attempt }), Buffer.from(''));
    for (const number of [1, 2])
      expect(await attemptRun(scheduled, setUp(archive, () => answer()).context)).toMatchObject({ attempt: number });
  });

  it('asks first for what the attempt before did not come to, and last for what failed', async () => {
    const archive = new FakeArchive();
    const first = setUp(
      archive,
      (nth) => {
        if (nth === 1) first.stop.startNothing(new RunStopped('time ran out'));
        return statusError(404);
      },
      { concurrency: 1 },
    );
    await attemptRun(scheduled, first.context).catch(() => undefined);
    const { context, service } = setUp(archive, () => answer());
    await attemptRun(scheduled, context);
    const namesOf = (requests: readonly ResourceRequest[]) => requests.map(taskName);
    const failed = namesOf(first.service.requests);
    expect(failed).toHaveLength(2);
    expect(namesOf(service.requests).slice(3)).toEqual(failed);
  });

  it('keeps the doubt, and no hash, of an answer whose own archiving had no answer', async () => {
    const archive = new FakeArchive();
    const { context } = setUp(archive, () => answer({ facts: { doubt: 'why not' } }));
    const puts: PutResult[] = ['answer-lost', 'already-archived', 'archived'];
    const lost = { ...context, archive: { put: async () => puts.shift() ?? 'archived' } };
    await attemptRun(scheduled, {
      ...lost,
      configuration: { ...configuration, clusters: [{ uid: 'a' }, { uid: 'b', resources: ['log'] }] },
    });
    const outcomes = archive.records[0]?.outcomes ?? [];
    const found = outcomes.map(({ outcome, doubt, sha256 }) => [outcome, doubt, sha256 !== undefined].join());
    expect(found.sort()).toEqual([
      'already-archived,,false',
      'already-archived,why not,false',
      'archived,why not,true',
    ]);
    expect(archive.records[0]?.counts).toMatchObject({ archived: 1, alreadyArchived: 2, doubts: 2 });
  });
});

describe('an optional cluster', () => {
  const clusters = [{ uid: 'a' }, { uid: 'gone', optional: true }];

  it('that is not archived is recorded and counted apart, and the run is complete', async () => {
    const archive = new FakeArchive();
    const { context } = setUp(archive, failing('gone'), { clusters });
    const summary = await attemptRun(scheduled, context);
    const counts = { archived: 2, alreadyArchived: 0, failed: 0, notAttempted: 0, optionalMissing: 2 };
    expect(summary).toMatchObject({ status: 'complete', counts });
    expect(archive.records[0]).toMatchObject({ status: 'complete', counts });
    expect(archive.records[0]?.outcomes.map(({ outcome, optional }) => [outcome, optional])).toEqual([
      ['archived', undefined],
      ['archived', undefined],
      ['failed', true],
      ['failed', true],
    ]);
  });

  it.each([
    ['2026-11-20T23:59:59.999Z', 'complete'],
    ['2026-11-21T00:00:00.000Z', 'incomplete'],
  ])('with an end is so up to its last UTC date, by the time of the run: %s is %s', async (time, status) => {
    const archive = new FakeArchive();
    const until = { clusters: [{ uid: 'a' }, { uid: 'gone', optional: { until: '2026-11-20' } }] };
    const { context } = setUp(archive, failing('gone'), until);
    const error = await attemptRun({ ...scheduled, run: new Date(time) }, context).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ ...(status === 'incomplete' && { name: 'RunIncompleteError' }) });
    const optional = status === 'complete' || undefined;
    expect(archive.records[0]).toMatchObject({ status });
    expect(archive.records[0]?.outcomes.map((one) => one.optional)).toEqual([undefined, undefined, optional, optional]);
  });

  it('does not hide that another one failed', async () => {
    const { context } = setUp(new FakeArchive(), () => statusError(404), { clusters });
    const error = (await attemptRun(scheduled, context).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toContain('(2 of 2 not archived): 2 failed, 0 not attempted; 2 optional not counted');
    expect(error.message).not.toContain('cluster gone');
  });
});

describe('completing an earlier run', () => {
  const completing: RunRequest = { ...scheduled, scheduled: false, completes: true };

  it("covers the clusters of the run's first record that are still configured", async () => {
    const archive = new FakeArchive();
    await attemptRun(scheduled, setUp(archive, failing('a')).context).catch(() => undefined);
    const clusters = [{ uid: 'a' }, { uid: 'c', resources: ['manifest' as const] }, { uid: 'added-later' }];
    const { context, service } = setUp(archive, () => answer(), { clusters });
    const summary = await attemptRun(completing, context);
    expect(service.requests.map(({ cluster }) => cluster)).toEqual(['a', 'a']);
    expect(summary).toMatchObject({ attempt: 2, counts: { archived: 2, alreadyArchived: 1 } });
    expect(archive.records.map(({ trigger }) => trigger)).toEqual(['schedule', 'manual']);
  });

  it('covers the clusters of all shards where no shard is asked for', async () => {
    const archive = new FakeArchive();
    for (const index of [0, 1]) {
      const { context } = setUp(archive, failing('a'));
      await attemptRun({ ...scheduled, shard: { index, count: 2 } }, context).catch(() => undefined);
    }
    const { context } = setUp(archive, () => answer());
    expect(await attemptRun(completing, context)).toMatchObject({
      attempt: 1,
      counts: { archived: 2, alreadyArchived: 3 },
    });
  });

  const unlisted = async function* () {
    yield await Promise.reject(new ArchiveReadError('Listing runs/ in s3://archive failed: 403 AccessDenied'));
  };
  it.each([
    ['left no record', new FakeArchive(), '{"scheduledTime":"2026-11-20T09:00:00.000Z"}'],
    [
      'has no record that can be read',
      Object.assign(new FakeArchive(), { list: unlisted }),
      'Completing run 2026-11-20T09:00:00.000Z failed: no record of it could be read. Listing runs/ in s3://archive failed: 403 AccessDenied. Invoke again when the archive can be read.',
    ],
  ])('that %s fails and says what to do instead', async (_, archive, problem) => {
    const { context, service } = setUp(archive, () => answer());
    const attempt = attemptRun(completing, context);
    await expect(attempt).rejects.toThrow(RunNotFoundError);
    await expect(attempt).rejects.toThrow(problem);
    expect(service.requests).toEqual([]);
  });
});

describe('a dry run', () => {
  const dry = { ...scheduled, dryRun: true };
  const setUpDry = (archive: FakeArchive, script: ConstructorParameters<typeof FakeService>[0]) => {
    const real = setUp(archive, script);
    const nowhere = new DryArchive('archive');
    const context = { ...real.context, archive: nowhere, records: new RecordStore(nowhere, archive) };
    return { ...real, context };
  };

  it('fails as the run would, and releases every body', async () => {
    const release = jest.fn(async () => undefined);
    const { context } = setUpDry(new FakeArchive(), (_nth, _key, { cluster }) =>
      cluster === 'a' ? statusError(404) : answer({ release }),
    );
    await expect(attemptRun(dry, context)).rejects.toThrow(/^Dry run .* \(2 of 5 not archived\)/);
    expect(release).toHaveBeenCalledTimes(3);
  });

  it.each([
    false,
    true,
  ])('of a run that is archived asks for all of it again, and adds nothing (by its name: %p)', async (completes) => {
    const archive = new FakeArchive();
    await attemptRun(scheduled, setUp(archive, () => answer()).context);
    const before = new Map(archive.stored);
    const { context, service, reporter } = setUpDry(archive, () => answer());
    const summary = await attemptRun({ ...dry, completes }, context);
    expect(summary).toMatchObject({ status: 'complete', dryRun: true, counts: { archived: 0, wouldArchive: 5 } });
    expect([summary.attempt, summary.record]).toEqual([undefined, undefined]);
    expect(service.requests).toHaveLength(5);
    expect(reporter.outcomes[0]).toMatchObject({ outcome: 'would-archive', sha256: 'ab'.repeat(32) });
    expect(reporter.outcomes[0]).not.toHaveProperty('key');
    expect(archive.stored).toEqual(before);
  });
});

describe('the configuration of an attempt', () => {
  it('is stored while clusters are asked, and before the record is written', async () => {
    const archive = new FakeArchive();
    let recorded: number | undefined;
    let onAllAsked = () => {};
    const allAsked = new Promise<void>((resolve) => {
      onAllAsked = resolve;
    });
    const script = (nth: number) => {
      if (nth === 4) setImmediate(onAllAsked);
      return answer();
    };
    const store = async () => {
      await allAsked;
      recorded = archive.records.length;
      return undefined;
    };
    await attemptRun(scheduled, setUp(archive, script, { store }).context);
    expect([recorded, archive.records.length]).toEqual([0, 1]);
  });

  it('that cannot be stored costs no outcome and no record, and then fails the attempt', async () => {
    const archive = new FakeArchive();
    const store = async () => {
      throw new Error('PUT failed');
    };
    const { context, reporter } = setUp(archive, () => answer(), { store });
    await expect(attemptRun(scheduled, context)).rejects.toThrow('PUT failed');
    expect(archive.records.map(({ status }) => status)).toEqual(['complete']);
    expect(reporter.warnings).toEqual(['configuration not stored']);
    expect(reporter.summaries).toMatchObject([{ status: 'complete' }]);
  });
});
