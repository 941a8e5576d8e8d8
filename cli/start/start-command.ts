import { stat } from 'node:fs/promises';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { ConfigError, loadConfig } from '../../infra/config/config';
import { mostShards } from '../../infra/limits';
import { type FaultName, faultNames } from '../../local/demo-service/demo-faults';
import { UnsupportedTemplateError } from '../../local/deployment/stack-template';
import { defaultArchive } from '../archive/open-archive';
import { printsTo, withHelp, withRunWishes } from '../commands/options';
import { formatCount, formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { apiKeyVariable, exitCodes, print, type Terminal } from '../terminal/terminal';
import { auditAsJson, checkAudit, isSound, printAudit } from './audit-report';
import { defaultAudit } from './start-audit';
import { completingCommand, isComplete, reportAsJson, reportAsText } from './start-report';
import { type RunChoice, RunInterruptedError, startRun } from './start-run';
import { demoBaseUrl, type ServiceChoice, StartUsageError, startService } from './start-service';

interface StartOptions extends RunChoice, Pick<ServiceChoice, 'serve' | 'manifestAs' | 'plain'> {
  readonly config: string;
  readonly fail?: Readonly<Record<string, FaultName>>;
  readonly shards?: number;
  readonly json?: boolean;
  readonly tamper?: boolean;
}

export interface StartContext {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends the run and removes everything but the archive. */
  readonly interrupted: AbortSignal;
}

/**
 * Runs the whole product once on this machine.
 * @param args without the program's own name
 * @returns the exit code; errors are printed
 * @throws the reason of an interruption
 */
export async function startCommand(args: readonly string[], context: StartContext): Promise<number> {
  const { terminal, interrupted } = context;
  try {
    const options = parse(args, terminal);
    return await start(options, args, context);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (error instanceof RunInterruptedError) throw new Error(interruptedText(error, args), { cause: error });
    if (interrupted.aborted) throw new Error('Interrupted. Nothing was written.', { cause: error });
    await print(terminal.err, `${terminal.errColors.red('error:')} ${describeError(error)}\n`);
    return isUsage(error) ? exitCodes.usage : exitCodes.found;
  }
}

async function start(
  options: StartOptions,
  args: readonly string[],
  { terminal, environment, interrupted }: StartContext,
): Promise<number> {
  const loaded = loadConfig(options.config);
  checkAuditOptions(options);
  const audit = loaded.audit ?? (options.audit === true ? defaultAudit : undefined);
  const configured = { ...loaded, shards: options.shards ?? loaded.shards, ...(audit && { audit }) };
  await checkFolder(options.folder);
  const service = await startService(configured, { ...options, failing: options.fail ?? {} }, environment);
  try {
    const { config } = service;
    checkClusters(
      options.clusters,
      config.clusters.map(({ uid }) => uid),
    );
    const say = (line: string) => (options.json === true ? undefined : print(terminal.out, `${line}\n`));
    await say(introduction[service.kind](service.url, formatCount(config.clusters.length, 'cluster'), options));
    await say(`Synthesising the stack ${config.name} and deploying it locally, its archive in ${options.folder}/`);
    const started = await startRun(service, options, terminal, interrupted);
    const run = started.summary?.run;
    const fired = started.execution === undefined ? 'was fired' : 'started the state machine';
    const how = started.scheduled ? `The schedule ${fired}` : 'The function was invoked by hand';
    await say(`${how}${run === undefined ? '' : `: run ${formatTime(run)}`}`);
    const checked = started.audit && (await checkAudit(started.audit, started, options, terminal));
    const { folder, dryRun = false } = options;
    const reported = { service, started, folder, dryRun, args };
    if (options.json === true) await reportAsJson(terminal, reported, checked && auditAsJson(checked));
    else await reportAsText(terminal, reported);
    if (checked !== undefined && options.json !== true) await printAudit(terminal, checked);
    const isGreen = isComplete(started) && (checked === undefined || isSound(checked));
    return isGreen ? exitCodes.ok : exitCodes.found;
  } finally {
    await service.close();
  }
}

function interruptedText({ run, archived, hasRecord }: RunInterruptedError, args: readonly string[]): string {
  return (
    `Run ${formatTime(run)} was interrupted. What it has archived stays: ${formatCount(archived, 'object')}. ` +
    `Complete it with\n  ${completingCommand(args, run)}${hasRecord ? '' : ' --without-record'}`
  );
}

const introduction = {
  demo: (url: string, clusters: string) => `The demo service at ${url} stands for ${demoBaseUrl}, with ${clusters}`,
  folder: (url: string, clusters: string, { serve }: StartOptions) => `${serve} is served at ${url}, with ${clusters}`,
  real: (url: string, clusters: string) => `Reading ${clusters} from ${url}`,
};

function checkClusters(chosen: readonly string[] | undefined, known: readonly string[]): void {
  const unknown = (chosen ?? []).filter((uid) => !known.includes(uid));
  if (unknown.length > 0)
    throw new StartUsageError(
      `--clusters names ${unknown.join(', ')}, which is not configured; expected some of ${known.slice(0, 20).join(', ')}${known.length > 20 ? ', …' : ''}.`,
    );
}

function checkAuditOptions({ audit, tamper, dryRun }: StartOptions): void {
  if (tamper === true && audit !== true)
    throw new StartUsageError('--tamper needs --audit, which finds what it forges.');
  if (audit === true && dryRun === true)
    throw new StartUsageError('--audit seals what a run archives, and --dry-run archives nothing; leave one out.');
}

async function checkFolder(folder: string): Promise<void> {
  const there = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new StartUsageError(`Opening the folder ${folder} failed: ${error.code}.`, { cause: error });
  });
  if (there?.isDirectory() === false) throw new StartUsageError(`--folder names ${folder}, which is no folder.`);
}

function isUsage(error: unknown): boolean {
  return [ConfigError, StartUsageError, UnsupportedTemplateError].some((type) => error instanceof type);
}

function describeError(error: unknown): string {
  const { message, stack } = error as Error;
  // Of an unexpected error, the stack says where it happened.
  return (isUsage(error) ? message : (stack ?? message)).split('\n').map(printable).join('\n');
}

function parse(args: readonly string[], terminal: Terminal): StartOptions {
  const command = new Command('npm start --')
    .description(
      'Runs the whole product once on this machine: the real stack, deployed locally, its policies enforced.',
    )
    .usage('[options]')
    .option('--config <file>', 'the configuration', 'collector.json')
    .option(
      '--serve <dir>',
      'read the clusters from a folder, with <uid>/log.txt and <uid>/manifest.yaml (.yml, .json, .txt) for each',
    );
  withRunWishes(command)
    .option('--folder <dir>', 'the folder of the archive', defaultArchive)
    .addOption(
      new Option('--manifest-as <form>', 'how the demo service sends manifests (default: not all alike)').choices([
        'text',
        'yaml',
        'json',
      ]),
    )
    .option('--plain', 'let the demo service send its answers uncompressed')
    .option('--fail <uid=fault>', `make a cluster of the demo service fail: ${faultNames.join(', ')}`, parseFault)
    .option('--shards <n>', 'divide the clusters into shards, which a state machine runs in parallel', parseShards)
    .option('--audit', 'after the run, seal the archive, show the mail, and verify the archive against the seal')
    .option('--tamper', 'with --audit: forge a copy of the archive before it is verified')
    .option('--json', 'print one JSON document and nothing else')
    .allowExcessArguments(false);
  withHelp(command, terminal, helpText);
  return printsTo(terminal, command, 'npm start --').parse(args, { from: 'user' }).opts<StartOptions>();
}

function parseShards(text: string): number {
  const shards = /^\d+$/.test(text) ? Number(text) : 0;
  if (shards < 1 || shards > mostShards)
    throw new InvalidArgumentError(`expected a whole number from 1 to ${mostShards}.`);
  return shards;
}

function parseFault(text: string, earlier: Readonly<Record<string, FaultName>> = {}): Record<string, FaultName> {
  const [, uid = '', name = ''] = /^(.+)=([^=]+)$/s.exec(text) ?? [];
  const fault = faultNames.find((known) => known === name);
  if (fault === undefined)
    throw new InvalidArgumentError(`expected <uid>=<fault> with one of ${faultNames.join(', ')}.`);
  return { ...earlier, [uid]: fault };
}

const helpText = `
Which service is read: the folder of --serve; otherwise the demo service, if the configuration names ${demoBaseUrl};
otherwise the service that it names, with the API key from the environment variable ${apiKeyVariable}.

Every start is a run of its own: it adds to the archive and changes nothing in it. With --clusters, --dry-run or --run, or
if the schedule is disabled, the function is invoked by hand. Otherwise the schedule is fired, with the two retries that
Lambda makes. If the service is down, the second retry is left out: in Lambda it asks until the service answers, for up
to 14 minutes.

--audit deploys the second function too, with its own role and its signing key. --tamper replaces a manifest and what the
run records say of it in a copy of the archive; the archive itself stays as it is.

Exit codes: 0 everything was archived, 1 something was not, or verifying found damage, 2 wrong usage or configuration.

Examples:
  npm start
  npm start -- --clusters prod-eu-1,staging-1
  npm start -- --fail prod-eu-1=cut-short --fail staging-1=html-page
  npm start -- --shards 4
  npm start -- --audit
  npm start -- --audit --tamper
  npm start -- --serve ../my-clusters --folder /tmp/archive
  ${apiKeyVariable}="$(cat key.txt)" npm start -- --config my.json --dry-run
  npm start --silent -- --json | jq '.outcomes[] | select(.outcome != "archived")'
`;
