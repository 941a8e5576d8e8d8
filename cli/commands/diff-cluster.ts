import type { Resource } from '../../lambda/resources';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { type DescribedObject, newestFetched } from '../archive/cluster-objects';
import { readText } from '../archive/read-text';
import { formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { type ExitCode, exitCodes, print, printJson, type Terminal } from '../terminal/terminal';
import type { JsonOption, PeriodOptions } from './archive-options';
import { NothingArchivedError } from './show-command';
import { type Hunk, unifiedHunks } from './unified-hunks';

type Fetched = DescribedObject & { readonly facts: NonNullable<DescribedObject['facts']> };

/**
 * Prints how one resource of one cluster changed.
 * @throws NothingArchivedError if one of the two is not in the archive
 * @throws DamagedObjectError, TextTooLargeError, ArchiveReadError
 */
export async function diffCluster(
  terminal: Terminal,
  reader: ArchiveReader,
  cluster: string,
  resource: Resource,
  options: PeriodOptions & JsonOption,
): Promise<ExitCode> {
  const [before, after] = await findBoth(reader, cluster, resource, options);
  const areSame = before.facts.sha256 === after.facts.sha256;
  const [old, now] = areSame
    ? ['', '']
    : [await readText(reader, before.key, resource), await readText(reader, after.key, resource)];
  const hunks = unifiedHunks(old, now);
  // What is stored as text need not be UTF-8; two contents that read the same may still differ.
  const differsElsewhere = !areSame && hunks.length === 0;
  const isChanged = hunks.length > 0 || (differsElsewhere && resource === 'manifest');
  if (options.json === true) {
    const side = ({ key, facts }: Fetched) => ({
      key,
      run: facts.run.toISOString(),
      fetchedAt: facts.fetchedAt.toISOString(),
      sha256: facts.sha256,
      bytes: facts.length,
    });
    await printJson(terminal.out, {
      cluster,
      resource,
      changed: isChanged,
      from: side(before),
      to: side(after),
      hunks,
    });
  } else {
    await printHunks(terminal, `${cluster}/${resource}`, before, after, hunks);
    if (areSame) {
      const times = [before, after].map(({ facts }) => formatTime(facts.fetchedAt)).join(' and ');
      await print(terminal.err, `No difference: the ${resource} of ${printable(cluster)} is the same at ${times}.\n`);
    }
    if (differsElsewhere)
      await print(
        terminal.err,
        resource === 'log'
          ? 'The text of the log is the same; the rest of its record differs (show --raw shows it).\n'
          : 'The manifests differ only in bytes that are not UTF-8.\n',
      );
  }
  return isChanged ? exitCodes.found : exitCodes.ok;
}

async function findBoth(
  reader: ArchiveReader,
  cluster: string,
  resource: Resource,
  { from, to }: PeriodOptions,
): Promise<[Fetched, Fetched]> {
  const [newest, second] = await newestFetched(reader, resource, cluster, to, 2);
  if (newest === undefined) throw new NothingArchivedError(resource, cluster, to);
  const before = from === undefined ? second : (await newestFetched(reader, resource, cluster, from, 1))[0];
  if (before === undefined)
    throw new NothingArchivedError(resource, cluster, from ?? new Date(newest.facts.fetchedAt.getTime() - 1));
  return [before, newest];
}

async function printHunks(
  { out, colors, columns }: Terminal,
  name: string,
  before: Fetched,
  after: Fetched,
  hunks: readonly Hunk[],
): Promise<void> {
  if (hunks.length === 0) return;
  // On a terminal nothing may steer it; piped on, the text stays as it is, for patch and for files.
  const shown = (line: string) => (columns === undefined ? line : line.split('\t').map(printable).join('\t'));
  const heading = (mark: string, { facts }: Fetched) =>
    colors.bold(`${mark} ${printable(name)}\t${formatTime(facts.fetchedAt)}`);
  await print(out, `${heading('---', before)}\n${heading('+++', after)}\n`);
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    // An empty side begins, by convention, at the line before it.
    const at = (start: number, count: number) => `${count === 0 ? start - 1 : start}${count === 1 ? '' : `,${count}`}`;
    await print(out, `${colors.cyan(`@@ -${at(oldStart, oldLines)} +${at(newStart, newLines)} @@`)}\n`);
    const color = (line: string) =>
      line.startsWith('+') ? colors.green(shown(line)) : line.startsWith('-') ? colors.red(shown(line)) : shown(line);
    await print(out, `${lines.map(color).join('\n')}\n`);
  }
}
