import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import type { Resource } from '../../lambda/resources';
import { DamagedObjectError, damageOf, openContent } from '../../lambda/verify/open-content';
import { type DescribedObject, newestFetched } from '../archive/cluster-objects';
import { LogText } from '../archive/log-text';
import { openArchive } from '../archive/open-archive';
import { formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { type CommandContext, exitCodes, print, printJson } from '../terminal/terminal';
import {
  type ArchiveOption,
  type JsonOption,
  resourceOption,
  timeOption,
  withArchive,
  withJson,
} from './archive-options';

interface Options extends ArchiveOption, JsonOption {
  readonly resource: Resource;
  readonly at?: Date;
  readonly raw?: boolean;
}

/** Nothing of this cluster and resource was archived up to the time that was asked for. */
export class NothingArchivedError extends Error {
  override readonly name = 'NothingArchivedError';

  constructor(resource: Resource, cluster: string, at: Date | undefined) {
    const when = at === undefined ? '' : ` at or before ${formatTime(at)}`;
    super(`Finding the ${resource} of cluster ${cluster} failed: none was fetched${when}; list shows what is there`);
  }
}

/** `show`: content as it was archived. */
export function showCommand({ terminal, end }: CommandContext): Command {
  const command = new Command('show')
    .description('Writes archived content to standard output: the manifest as it was, or the text of the log.')
    .argument('<cluster>', "the cluster's uid")
    .addOption(resourceOption('what to show', 'manifest'))
    .addOption(timeOption('--at <time>', 'the newest fetched at or before this time (default: the newest)', 'end'))
    .addOption(new Option('--raw', 'of a log, the whole record instead of its text'))
    .addHelpText('after', helpText);
  withJson(withArchive(command));
  return command.action(async (cluster: string, options: Options) => {
    const reader = await openArchive(options.archive);
    const [object] = await newestFetched(reader, options.resource, cluster, options.at, 1);
    if (object === undefined) throw new NothingArchivedError(options.resource, cluster, options.at);
    if (options.json === true) return printJson(terminal.out, describeObject(object));
    if (object.facts.doubt !== undefined)
      await print(terminal.err, `Archived with a doubt: ${printable(object.facts.doubt)}.\n`);
    try {
      const content = await openContent(reader, object.key);
      if (content === undefined) throw new DamagedObjectError('it is no longer there');
      if (options.resource === 'manifest' || options.raw === true)
        return await pipeline(content.body, terminal.out, { end: false });
      const text = new LogText();
      await pipeline(content.body, text, terminal.out, { end: false });
      if (!text.found) await print(terminal.err, 'The record has no log text (spec.log); --raw shows the record.\n');
      if (text.isLossy)
        await print(
          terminal.err,
          'Halves of surrogate pairs, which UTF-8 cannot say, were left out; --raw has them.\n',
        );
    } catch (error) {
      const damage = damageOf(error);
      if (damage === undefined) throw error;
      await print(terminal.err, `${terminal.errColors.red('damaged:')} ${object.key}: ${damage}\n`);
      end(exitCodes.found);
    }
  });
}

/** What `--json` says instead of the content: which object it is, and what it says about itself. */
function describeObject({ key, facts, storedBytes }: DescribedObject) {
  return {
    key,
    storedBytes,
    ...facts,
    run: facts?.run.toISOString(),
    fetchedAt: facts?.fetchedAt.toISOString(),
  };
}

const helpText = `
The content is checked against its SHA-256 while it is written; if it is another, the last line on
standard error says so and the exit code is 1. A log may contain what steers a terminal: pipe it
into less, or a file, if you do not trust it.
With --json: which object it is and what it says about itself, not the content.
Exit codes: 0 done, 1 the object is damaged, 2 wrong command line, 3 it could not be done.

Examples:
  npm run collector -- show my-cluster --at 2026-11-20 > manifest.yaml
  npm run collector -- show my-cluster --resource log | less
  npm run --silent collector -- show my-cluster --resource log --raw | jq .status
`.trimEnd();
