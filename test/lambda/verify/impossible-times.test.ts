import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { runRecordKey } from '../../../lambda/archive/archive-layout';
import { checksumText } from '../../../lambda/archive/archive-object';
import { hour } from '../../cli/archive-fixture';
import { damageOf, hasPython, readFolders } from '../../cli/export/second-reader';
import { archiveTwoRuns, keyAt, runVerify } from '../../cli/run-verify';

const record = runRecordKey({ run: hour(9), attempt: 1 });
const manifest = keyAt('manifest');

/** Replaces a text in a file, as somebody does who may write to the archive; its checksum is right. */
async function replaceIn(folder: string, key: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(join(folder, key), 'utf8');
  expect(text).toMatch(from);
  await writeFile(join(folder, key), text.replace(from, to));
  const about = join(folder, 'metadata', `${key}.json`);
  const said = await readFile(about, 'utf8').catch(() => undefined);
  if (said === undefined) return;
  const checksums = { crc32: checksumText(crc32(await readFile(join(folder, key)))) };
  await writeFile(about, JSON.stringify({ ...JSON.parse(said), checksums }));
}

describe('a time that there is not', () => {
  it.each([
    ['the start of an attempt', /"startedAt":"2026-11-/, '"startedAt":"2026-13-'],
    ['the time of fetching', /"fetchedAt":"2026-11/, '"fetchedAt":"2026-13'],
    ['a day that the month does not have', /"finishedAt":"2026-11-20/, '"finishedAt":"2026-11-31'],
  ])('makes a run record damaged, and ends nothing: %s', async (_, from, to) => {
    const { archive } = await archiveTwoRuns();
    await replaceIn(archive.folder, record, from, to);
    const { code, kinds, result } = await runVerify(archive.folder);
    expect([code, kinds[0]]).toEqual([1, `damaged ${record}`]);
    if (hasPython) expect(readFolders([archive.folder]).map(damageOf)).toEqual([damageOf(result.findings)]);
  });

  it.each([
    ['run', '2026-11-20T09:00:00.000z'],
    ['run', '2026-11-20 09:00:00.000Z'],
    ['run', '2026-11-20T09%3A00:00.000Z'],
    ['fetched-at', '2026-11-31T09:00:00.000Z'],
  ])('makes an object damaged: its %s is %s', async (name, time) => {
    const { archive } = await archiveTwoRuns();
    await replaceIn(
      archive.folder,
      `metadata/${manifest}.json`,
      new RegExp(`"${name}":"[^"]*"`),
      `"${name}":"${time}"`,
    );
    expect(await runVerify(archive.folder)).toMatchObject({ code: 1, kinds: [`damaged ${manifest}`] });
    if (hasPython) expect(readFolders([archive.folder]).map(damageOf)).toEqual([[`damaged ${manifest}`]]);
  });
});
