import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { LogTextDecoder } from '../../archive/format/log-text';
import { problems } from '../../archive/format/problems';
import { type Resource, resources } from '../../archive/format/resources';
import { type ArchiveReader, damageOf } from '../../archive/read';
import { openArchiveNow } from '../archive/open-archive';
import { contentOf } from '../archive/read-text';
import type { RecordedObject } from '../archive/recorded-object';
import { RunReader } from '../archive/run-reader';
import { describeSelection, noteNewerRuns, remarksOn, selectObject } from '../archive/select-object';
import { printable, printableContent } from '../terminal/printable';
import { type CommandContext, type Ending, print, printJson, type Terminal } from '../terminal/terminal';
import { type ReadOptions, resourceOption, runOption, timeOption, withArchive, withHelp } from './options';
import { printRemarks } from './print-findings';

interface Options extends ReadOptions {
  readonly run?: Date;
  readonly at?: Date;
  readonly resource: Resource;
  readonly raw?: boolean;
}

/** `show`: content as it was archived. */
export function showCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('show')
    .summary('a manifest, or the text of a log')
    .description('Writes archived content to standard output: the manifest as it was, or the text of the log.')
    .argument('<cluster>', "the cluster's uid")
    .addOption(resourceOption('what to show', 'manifest'))
    .option('--raw', 'write the whole log record, not only its text');
  command.addOption(runOption(['at']));
  command.addOption(timeOption('--at <time>', 'the newest run at or before this time', 'end', terminal.now));
  const json = 'the key, the lengths and the metadata of the object, not the content';
  withHelp(withArchive(command, json), terminal, helpText);
  return command.action(async (cluster: string, options: Options) => {
    const reader = new RunReader(await openArchiveNow(options.archive, terminal));
    const object = await selectObject(reader, options.resource, cluster, options);
    const { key, storedBytes, facts, remark, run, resource } = object;
    if (options.json !== true) await print(terminal.err, `${printable(describeSelection(object))}\n`);
    end(await printRemarks(terminal, remarksOn(object)));
    if (options.run === undefined) await noteNewerRuns(terminal, reader, object, options.at);
    if (options.json === true) {
      const own = { key, storedBytes: storedBytes ?? null, cluster, resource, run, ...facts };
      return printJson(terminal.out, { ...own, remark: remark?.problem ?? null });
    }
    if (storedBytes === undefined) return;
    if (facts?.doubt !== undefined) await print(terminal.err, `Archived with a doubt: ${printable(facts.doubt)}.\n`);
    end(await writeContent(terminal, reader.archive, object, options));
  });
}

/** @returns how the command ends with that */
async function writeContent(
  terminal: Terminal,
  reader: ArchiveReader,
  { key, resource, facts }: RecordedObject,
  options: Options,
): Promise<Ending> {
  const text = resources[resource].holdsLog && options.raw !== true ? new LogTextDecoder() : undefined;
  try {
    const { body } = await contentOf(reader, key);
    const bytes = text === undefined ? body : text.decode(body);
    const shown = terminal.isTerminal ? printableContent(bytes) : bytes;
    await pipeline(shown, terminal.out, { end: false });
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    return printRemarks(terminal, [{ kind: 'damaged', key, problem: damage }]);
  }
  if (text?.found === true && facts?.logLength === 0) await print(terminal.err, '(the log is empty)\n');
  if (text?.found === false)
    await print(terminal.err, 'The record has no log text (spec.log); --raw shows the record.\n');
  if (text?.isLossy === true)
    await print(
      terminal.err,
      'Halves of surrogate pairs, which UTF-8 cannot express, were left out; --raw has them.\n',
    );
  return 'ok';
}

const helpText = `
Without --run and --at, show takes the newest object of the cluster. Standard error says which run it is of, whether it was fetched late,
and whether it is what the run record and its SHA-256 say. What a run archived and is not there is missing: show then takes
no older one. Behind 100 runs in a row that have no object of the cluster it reads no more records, and may take an older
one: it says which runs it did not look at. Control characters are written out on a terminal; a pipe or a file gets the
content byte for byte.

Exit codes: 0 done, 1 the object is missing or damaged, or ${problems.unrecorded}, 2 wrong command line, 3 it
could not be done, or the run record could not be read.

Examples:
  npm run --silent collector -- show my-cluster --at yesterday > manifest.yaml
  npm run collector -- show my-cluster --resource log --run 2026-11-20T10:00:00Z | less
  npm run --silent collector -- show my-cluster --resource log --raw | jq .status
`;
