import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { LogTextDecoder } from '../../lambda/log/log-text';
import type { Resource } from '../../lambda/resources';
import { type ArchiveReader, DamagedObjectError } from '../../lambda/verify/archive-reader';
import { damageOf, openContent } from '../../lambda/verify/open-content';
import type { DescribedObject } from '../archive/cluster-objects';
import { openArchive } from '../archive/open-archive';
import { describeSelection, noteNewerRun, noteNextLog, selectObject } from '../archive/select-object';
import { formatTime } from '../terminal/format';
import { printable, printableContent } from '../terminal/printable';
import { type CommandContext, print, printJson, printProblem, type Terminal } from '../terminal/terminal';
import { type CheckOptions, VouchedNotes, withCheck } from './check-option';
import { type RunOptions, resourceOption, withArchive, withHelp, withOneRun } from './options';

interface Options extends RunOptions, CheckOptions {
  readonly resource: Resource;
  readonly raw?: boolean;
  readonly escape: boolean;
}

/** `show`: content as it was archived. */
export function showCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('show')
    .summary('a manifest, or the text of a log')
    .description('Writes archived content to standard output: the manifest as it was, or the text of the log.')
    .argument('<cluster>', "the cluster's uid")
    .addOption(resourceOption('what to show', 'manifest'))
    .option('--raw', 'write the whole log record, not only its text')
    .option('--no-escape', 'leave control characters as they are, on a terminal too');
  withHelp(withArchive(withCheck(withOneRun(command, terminal))), terminal, helpText);
  return command.action(async (cluster: string, options: Options) => {
    const reader = await openArchive(options.archive);
    const object = await selectObject(reader, options.resource, cluster, options, terminal.now());
    const notes = new VouchedNotes(reader, options);
    const vouched = await notes.ofObject(object);
    const isVouched = vouched === undefined || vouched.seal !== undefined;
    if (options.json === true) {
      const { key, storedBytes, facts } = object;
      await printJson(terminal.out, { key, storedBytes, ...facts, vouched });
      return isVouched ? undefined : end('found');
    }
    await print(terminal.err, `${printable(describeSelection(object))}\n`);
    if (options.run === undefined) await noteNewerRun(terminal, reader, object, options.at);
    if (options.resource === 'log' && options.at !== undefined && (object.facts?.fetchedAt ?? object.run) < options.at)
      await noteNextLog(terminal, reader, cluster, options.at, `What was logged up to ${formatTime(options.at)}`);
    if (object.facts?.doubt !== undefined)
      await print(terminal.err, `Archived with a doubt: ${printable(object.facts.doubt)}.\n`);
    const isWhole = await writeContent(terminal, reader, object, options);
    // Of another content nobody says anything.
    if (isWhole) await notes.print(terminal);
    if (!isWhole || !isVouched) end('found');
  });
}

/** @returns whether it is what was archived */
async function writeContent(
  terminal: Terminal,
  reader: ArchiveReader,
  { key, resource }: DescribedObject,
  options: Options,
): Promise<boolean> {
  const text = resource === 'log' && options.raw !== true ? new LogTextDecoder() : undefined;
  try {
    const opened = await reader.open(key);
    if (opened === undefined) throw new DamagedObjectError('it is no longer there');
    const { body } = openContent(key, opened);
    const bytes = text === undefined ? body : text.decode(body);
    const shown = terminal.isTerminal && options.escape ? printableContent(bytes) : bytes;
    await pipeline(shown, terminal.out, { end: false });
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    await printProblem(terminal, 'damaged:', `${key}: ${damage}`);
    return false;
  }
  if (text?.found === false)
    await print(terminal.err, 'The record has no log text (spec.log); --raw shows the record.\n');
  if (text?.isLossy === true)
    await print(
      terminal.err,
      'Halves of surrogate pairs, which UTF-8 cannot express, were left out; --raw has them.\n',
    );
  return true;
}

const helpText = `
Without --run and --at, show takes the newest object of the cluster. Standard error says which run it is of, and
whether it was fetched late. A log ends before it is fetched: with --at, standard error also names the next run that
has a log, which may have what was logged up to that time.

The content is checked against its SHA-256 while it is written. If it is another, the last line on standard error says
so and the exit code is 1. Control characters are written out on a terminal; a pipe or a file gets the content byte for
byte.

--check: standard error says which seal has the hash of the run record that has the hash of this content. "verify" says
whether the seals are one whole chain.

With --json: the key, the lengths and the metadata of the object, not the content; with --check also the seal.

Exit codes: 0 done, 1 the object is damaged, or with --check no seal vouches for it, 2 wrong command line, 3 it
could not be done.

Examples:
  npm run --silent collector -- show my-cluster --at yesterday > manifest.yaml
  npm run collector -- show my-cluster --resource log --run 2026-11-20T10:00:00Z | less
  npm run --silent collector -- show my-cluster --resource log --raw | jq .status
`;
