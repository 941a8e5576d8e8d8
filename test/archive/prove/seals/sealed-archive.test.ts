import type { Finding } from '../../../../archive/format/finding';
import { runRecordKey } from '../../../../archive/format/keys';
import type { Seal } from '../../../../archive/format/seal';
import { readChain } from '../../../../archive/prove/seals/read-chain';
import { SealedArchive } from '../../../../archive/prove/seals/sealed-archive';
import { FolderArchiveReader } from '../../../../archive/read/folder-archive-reader';
import type { StoredRun } from '../../../../archive/read/read-run';
import { ArchiveFixture } from '../../../cli/archive-fixture';
import { SealFixture, signingKeys } from '../../../cli/seal-fixture';

const listedFrom = new Date('2026-11-21T03:00:00Z');
const minutesBefore = (minutes: number) => new Date(listedFrom.getTime() - minutes * 60_000);
const run = new Date('2026-11-20T08:00:00Z');
const key = runRecordKey({ run, attempt: 1 });
const keys = signingKeys();

interface Written {
  /** By the archive's clock. */
  readonly writtenAt: Date;
  /** By the collector's. */
  readonly finishedAt?: Date;
}

describe('a run record that no seal has', () => {
  let archive: ArchiveFixture;

  beforeEach(async () => {
    archive = await ArchiveFixture.create();
  });

  /** What is found of a record beside one seal. */
  async function found({ writtenAt, finishedAt }: Written, changes?: Partial<Seal>) {
    const seals = new SealFixture(archive, keys);
    await seals.seal({ at: listedFrom, ...(changes && { changes }) });
    const sealed = new SealedArchive(await chainOf(), {});
    const file = { sha256: 'e'.repeat(64), bytes: 1 };
    const record = finishedAt && { finishedAt: finishedAt.toISOString() };
    const read = [{ key, run, attempt: 1, storedBytes: 1, writtenAt, file, record }];
    const { findings } = sealed.checkRun({ read } as unknown as StoredRun, new Set());
    return findings.map(({ kind }) => kind);
  }

  const chainOf = () => readChain(new FolderArchiveReader(archive.folder), {}, () => undefined);

  it('is unsealed if it was there 15 minutes before the newest seal began to list', async () => {
    expect(await found({ writtenAt: minutesBefore(15.1) })).toEqual(['unsealed']);
    expect(await found({ writtenAt: minutesBefore(14.9) })).toEqual([]);
  });

  it('is unsealed by its own clock if it is a copy, but for what clocks differ', async () => {
    const writtenAt = new Date('2030-01-01T00:00:00Z');
    expect(await found({ writtenAt, finishedAt: minutesBefore(136) })).toEqual(['unsealed']);
    expect(await found({ writtenAt, finishedAt: minutesBefore(134) })).toEqual([]);
  });

  it('is not unsealed if the newest seal says that it could not be read', async () => {
    const unread = { behind: null, keys: [key] };
    expect(await found({ writtenAt: minutesBefore(600) }, { unread })).toEqual([]);
  });

  it('is left to the next seal if the newest had no time for it', async () => {
    const writtenAt = minutesBefore(600);
    const behind = (key: string) => found({ writtenAt }, { unread: { behind: key, keys: [] } });
    expect(await behind('runs/date=2026-11-19/')).toEqual([]);
    expect(await behind('runs/date=2026-11-21/')).toEqual(['unsealed']);
  });
});

it('an object that is gone was not written before its run, whatever a record says of the time of fetching', async () => {
  const { folder } = await ArchiveFixture.create();
  const sealed = new SealedArchive(await readChain(new FolderArchiveReader(folder), {}, () => undefined), {});
  const outcome = { key: 'logs/x', name: { run }, outcome: 'already-archived' } as const;
  const writtenAt = (fetchedAt: string) => sealed.lost([], { ...outcome, fetchedAt }, 'gone').writtenAt;
  expect(writtenAt('2025-07-01T00:00:00.000Z')).toEqual(run);
  expect(writtenAt('2026-11-20T09:00:00.000Z')).toEqual(new Date('2026-11-20T09:00:00.000Z'));
});

it('a bucket with versions shows that a seal was deleted or overwritten', async () => {
  const about = 'seals/00000001.jsonl';
  const { folder } = await ArchiveFixture.create();
  const replaced = async (prefix: string) =>
    prefix === 'seals/' ? [{ key: about, at: new Date('2026-11-20T07:00:00Z') }] : [];
  const findings: Finding[] = [];
  const reader = Object.assign(new FolderArchiveReader(folder), { replaced });
  await readChain(reader, {}, (kind, key, problem) => findings.push({ kind, key, problem }));
  const problem = 'it was deleted or overwritten; the version before is of 2026-11-20T07:00:00.000Z';
  expect(findings).toEqual([{ kind: 'seal-broken', key: about, problem }]);
});
