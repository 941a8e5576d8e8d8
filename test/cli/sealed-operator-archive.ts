import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runRecordKey } from '../../lambda/archive/archive-layout';
import type { Hashed } from '../../lambda/verify/seals/seal';
import type { ArchiveFixture } from './archive-fixture';
import { absentRun, operatorArchive, operatorRuns, runAt } from './operator-archive';
import { SealFixture } from './seal-fixture';

const runsOfDay = 6;

/** The number of the seal that has a run's record: one is made every day, and the last day has none yet. */
export const sealOf = (at: number) => 1 + Math.floor(at / runsOfDay);

export const recordOf = (at: number) => runRecordKey({ run: runAt(at), attempt: 1 });

/** The operator's archive with nine seals. */
export async function sealedOperatorArchive(): Promise<{ archive: ArchiveFixture; seals: SealFixture }> {
  const archive = await operatorArchive();
  const seals = new SealFixture(archive);
  for (let first = 0; first + runsOfDay < operatorRuns; first += runsOfDay) {
    const runs = Array.from({ length: runsOfDay }, (_, at) => first + at);
    const records = await Promise.all(
      runs.filter((at) => runAt(at).getTime() !== absentRun.getTime()).map((at) => hashed(archive, recordOf(at))),
    );
    await seals.seal({ at: new Date(runAt(first + runsOfDay).getTime() - 3_600_000), changes: { records } });
  }
  return { archive, seals };
}

async function hashed(archive: ArchiveFixture, key: string): Promise<Hashed> {
  const content = await readFile(join(archive.folder, key));
  return { key, sha256: createHash('sha256').update(content).digest('hex'), bytes: content.length };
}

/** A copy of a folder, to be changed. */
export async function copyOf(folder: string): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'collector-archive-copy-'));
  await cp(folder, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}
