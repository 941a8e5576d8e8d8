import { Command, Option } from 'commander';
import { type CollectorConfig, ConfigError, loadConfig } from '../../infra/config/config';
import { accountChecks } from '../doctor/account-checks';
import { type Check, isWorthKnowing, notSeenHere, summaryOf, verdictOf, wrong } from '../doctor/check';
import { configurationChecks, regionChecks } from '../doctor/configuration-checks';
import { serviceCheck, stampChecks } from '../doctor/service-checks';
import { printableLines } from '../terminal/printable';
import { apiKeyVariable, type CommandContext, print, printJson, type Terminal } from '../terminal/terminal';
import { type StackOptions, withHelp, withStack } from './options';

interface Options extends StackOptions {
  readonly offline?: boolean;
}

export function doctorCommand({ terminal, end, surroundings }: CommandContext): Command {
  const command = new Command('doctor')
    .summary('checks what a run needs')
    .description(
      'Checks what a run needs: configuration, schedule, stack, key, service, recipients, newest run. Says what to do.',
    );
  const offline = new Option('--offline', 'check the configuration of --config alone; no connection is made');
  withStack(command).addOption(offline.conflicts('stack'));
  withHelp(command, terminal, helpText);
  return command.action(async (options: Options) => {
    const checks = await lookAt(options, surroundings.environment[apiKeyVariable], terminal);
    const verdict = verdictOf(checks);
    end(verdict === 'right' ? 'ok' : 'found');
    if (options.json) await printJson(terminal.out, { verdict, summary: summaryOf(checks), checks });
    else await printChecks(terminal, checks);
  });
}

async function lookAt(options: Options, ownKey: string | undefined, terminal: Terminal): Promise<readonly Check[]> {
  let config: CollectorConfig | undefined;
  try {
    config = options.stack === undefined ? loadConfig(options.config) : undefined;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const act = 'fix the configuration; nothing else was looked at';
    return [{ what: 'configuration', ...wrong(error.message, act) }];
  }
  const ofConfiguration =
    config === undefined
      ? []
      : [...configurationChecks(options.config, config, terminal.now()), ...(await regionChecks(config))];
  if (options.offline) return ofConfiguration;
  const name = options.stack ?? config?.name ?? '';
  const region = options.region ?? config?.deployTo?.region;
  const account = await accountChecks({ name, region }, config, terminal);
  const service =
    config === undefined
      ? notSeenHere('the configuration says where it is', 'use --config instead of --stack')
      : await serviceCheck(config, ownKey || account.apiKey);
  const stamps = config === undefined ? [] : await stampChecks(config.audit?.timestamps ?? []);
  return [...ofConfiguration, ...account.checks, { what: 'service', ...service }, ...stamps];
}

const signs = { right: '+', wrong: 'x', 'not seen': '?' } as const;

async function printChecks(terminal: Terminal, checks: readonly Check[]): Promise<void> {
  const { colors } = terminal;
  const color = { '+': colors.green, '!': colors.yellow, x: colors.red, '?': colors.yellow };
  const text = (value: string) => printableLines(value).replaceAll('\n', '\n    ');
  const lines = checks.flatMap((check) => {
    const { what, verdict, found, act } = check;
    const sign = isWorthKnowing(check) ? '!' : signs[verdict];
    return [
      `${color[sign](`${sign} ${what}`)}: ${text(found)}`,
      ...(act === undefined ? [] : [`    Do: ${text(act)}`]),
    ];
  });
  await print(terminal.out, `${colors.bold(summaryOf(checks))}\n${lines.join('\n')}\n`);
}

const helpText = `
Signs: + right, ! right and worth knowing, x wrong, ? not seen.

It reads what protects the archive from S3, KMS and IAM, and compares it with the deployed template: policies, lifecycle,
versions, Object Lock, replication, keys, roles. The rights that this takes: docs/pipeline.md, "Who deploys".

The API key is taken from the environment variable ${apiKeyVariable}. Without it, doctor reads the stack's secret, if
the credentials may. It is never shown. doctor uses it for one request from this machine: the log of one cluster.
It asks each authority of audit.timestamps for a stamp of nothing. Nothing is written anywhere.

Exit codes: 0 all that matters was seen and is right, 1 something is wrong or was not seen, 2 wrong command line, 3 it
could not be done. Not seen and 0: the key and the service, which the next run shows, and what others own.

Examples:
  npm run collector -- doctor
  npm run collector -- doctor --config prod.json --offline
  npm run collector -- doctor --stack my-collector --region eu-central-1
  npm run --silent collector -- doctor --json | jq '.checks[] | select(.verdict != "right")'
`;
