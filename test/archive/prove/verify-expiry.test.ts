import { rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { runRecordKey } from '../../../archive/format/keys';
import { ArchiveFixture, type AttemptFixture, hour, plainAnswer } from '../../cli/archive-fixture';
import { archiveTwoRuns, twoClusters as clusters, keyAt, runVerify } from '../../cli/run-verify';

let archive: ArchiveFixture;

beforeEach(async () => {
  ({ archive } = await archiveTwoRuns());
});

describe('verify with a retention', () => {
  const pathOf = (key: string) => join(archive.folder, key);
  const at = (now: string, ...args: string[]) => runVerify(archive.folder, args, new Date(now));
  /** Clocks may differ by two hours. */
  const [before, after] = ['2026-11-29T06:00:01Z', '2026-11-29T06:00:02Z'];

  it('counts what the lifecycle has removed as expired, by the configurations in the archive, and as missing before its time', async () => {
    await rm(pathOf(keyAt('log', 'beta', hour(8))));
    expect(await at(after)).toMatchObject({ code: 1, result: { found: { missing: 1 } } });
    const configuration = { retentionDays: 9 };
    archive = await ArchiveFixture.create();
    for (const at of [8, 9]) await archive.attempt({ run: hour(at), clusters, answer: plainAnswer, configuration });
    await rm(pathOf(keyAt('log', 'beta', hour(8))));
    expect(await at(after)).toMatchObject({ code: 0, result: { expired: 1 } });
    expect(await at(before)).toMatchObject({ code: 1, result: { expired: 0 } });
    // Its age does not excuse what is damaged and still there.
    await truncate(pathOf(keyAt('log')), 30);
    expect(await at(after)).toMatchObject({ code: 1, result: { found: { damaged: 1 } } });
  });

  it('excuses nothing that is younger than the last configuration with it', async () => {
    archive = await ArchiveFixture.create();
    await archive.attempt({ run: hour(8), clusters, answer: plainAnswer, configuration: { retentionDays: 9 } });
    await archive.attempt({ run: hour(12), clusters, answer: plainAnswer });
    await rm(pathOf(keyAt('log', 'beta', hour(8))));
    expect(await at('2027-11-29T08:00:00Z')).toMatchObject({ code: 1, result: { found: { missing: 1 } } });
    // What was deployed behind the period counts too.
    expect(await at('2027-11-29T08:00:00Z', '--to', '2026-11-20T08:00')).toMatchObject({ code: 1 });
  });

  it('excuses nothing of a part by its configurations: whoever hands it over can put any into it', async () => {
    archive = await ArchiveFixture.create();
    await archive.attempt({ run: hour(8), clusters, answer: plainAnswer, configuration: { retentionDays: 9 } });
    await rm(pathOf(keyAt('log', 'beta', hour(8))));
    expect(await at(after, '--part', '--cluster', 'beta')).toMatchObject({
      code: 1,
      result: { expired: 0, found: { missing: 1 } },
    });
  });

  it('judges anew once the earlier configuration is back', async () => {
    archive = await ArchiveFixture.create();
    for (const [at, configuration] of [[8, { retentionDays: 9 }] as const, [12, {}] as const])
      await archive.attempt({ run: hour(at), clusters, answer: plainAnswer, configuration });
    await rm(pathOf(keyAt('log', 'beta', hour(8))));
    expect(await at(after)).toMatchObject({ code: 1, result: { found: { missing: 1 } } });
    await archive.attempt({ run: hour(16), clusters, answer: plainAnswer, configuration: { retentionDays: 9 } });
    expect(await at(after)).toMatchObject({ result: { expired: 1, found: { missing: 0 } } });
  });

  it('takes a configuration that a late completion used for one that is in force since then', async () => {
    archive = await ArchiveFixture.create();
    for (const at of [8, 12]) await archive.attempt({ run: hour(at), clusters, answer: plainAnswer });
    await rm(pathOf(keyAt('log', 'beta', hour(8))));
    expect(await at(after)).toMatchObject({ code: 1, result: { found: { missing: 1 } } });
    const answer: AttemptFixture['answer'] = () => ({ alreadyArchived: 'with hash' });
    const late = { attempt: 2, startedAt: hour(16), trigger: 'manual', configuration: { retentionDays: 9 } } as const;
    await archive.attempt({ run: hour(8), clusters, answer, ...late });
    expect(await at(after)).toMatchObject({ result: { expired: 1, found: { missing: 0 } } });
  });

  it('excuses a hash whose origin the lifecycle has removed with its record', async () => {
    archive = await ArchiveFixture.create();
    const configuration = { retentionDays: 9, clusters: clusters.map((uid) => ({ uid })) };
    const shard = { index: 0, count: 1 };
    await archive.attempt({ run: hour(8), shard, clusters, answer: plainAnswer, configuration });
    const known: AttemptFixture['answer'] = () => ({ alreadyArchived: 'with hash' });
    await archive.attempt({ run: hour(8), clusters, answer: known, configuration, trigger: 'manual' });
    await rm(pathOf(runRecordKey({ run: hour(8), shard, attempt: 1 })));
    expect(await at(after)).toMatchObject({ code: 0, kinds: [] });
    expect(await at('2026-11-29T05:00:00Z')).toMatchObject({ code: 1, result: { found: { contradiction: 1 } } });
  });

  it('excuses an object whose run record the lifecycle has removed first', async () => {
    archive = await ArchiveFixture.create();
    for (const at of [8, 9])
      await archive.attempt({ run: hour(at), clusters, answer: plainAnswer, configuration: { retentionDays: 9 } });
    await rm(pathOf(runRecordKey({ run: hour(8), attempt: 1 })));
    expect(await runVerify(archive.folder)).toMatchObject({ code: 0, result: { expired: 4, runs: 1 } });
    await rm(pathOf(runRecordKey({ run: hour(9), attempt: 1 })));
    expect(await runVerify(archive.folder)).toMatchObject({ code: 3, kinds: [], result: { expired: 8, runs: 0 } });
  });
});
