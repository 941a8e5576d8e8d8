import { Command, Option } from 'commander';
import { type CollectorConfig, ConfigError, loadConfig } from '../../infra/config/config';
import { accountChecks } from '../doctor/account-checks';
import { type Check, problem, unknown, verdictOf } from '../doctor/check';
import { configurationChecks } from '../doctor/configuration-checks';
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
    const hasProblem = checks.some(({ state }) => state === 'problem');
    end(hasProblem ? 'found' : 'ok');
    if (options.json) await printJson(terminal.out, { isWell: !hasProblem, verdict: verdictOf(checks), checks });
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
    return [{ what: 'configuration', ...problem(error.message, act) }];
  }
  const ofConfiguration = config === undefined ? [] : configurationChecks(options.config, config, terminal.now());
  if (options.offline) return ofConfiguration;
  const name = options.stack ?? config?.name ?? '';
  const region = options.region ?? config?.deployTo?.region;
  const account = await accountChecks({ name, region }, config, terminal);
  const service =
    config === undefined
      ? unknown('the configuration says where it is', 'use --config instead of --stack')
      : await serviceCheck(config, ownKey || account.apiKey);
  const stamps = config === undefined ? [] : await stampChecks(config.audit?.timestamps ?? []);
  return [...ofConfiguration, ...account.checks, { what: 'service', ...service }, ...stamps];
}

const signs = { ok: '+', warning: '!', problem: 'x', unknown: '?' } as const;

async function printChecks(terminal: Terminal, checks: readonly Check[]): Promise<void> {
  const { colors } = terminal;
  const color = { ok: colors.green, warning: colors.yellow, problem: colors.red, unknown: colors.dim };
  const text = (value: string) => printableLines(value).replaceAll('\n', '\n    ');
  const lines = checks.flatMap(({ what, state, found, act }) => [
    `${color[state](`${signs[state]} ${what}`)}: ${text(found)}`,
    ...(act === undefined ? [] : [`    Do: ${text(act)}`]),
  ]);
  await print(terminal.out, `${colors.bold(verdictOf(checks))}\n${lines.join('\n')}\n`);
}

const helpText = `
Signs: + in order, ! worth knowing, x a problem, ? not looked at.

The API key is taken from the environment variable ${apiKeyVariable}. Without it, doctor reads the stack's secret, if
the credentials may. It is never shown. doctor uses it for one request from this machine: the log of one cluster.
It asks each authority of audit.timestamps for a stamp of nothing. Nothing is written anywhere.

Exit codes: 0 no problem was found, 1 at least one was, 2 wrong command line, 3 it could not be done.

Examples:
  npm run collector -- doctor
  npm run collector -- doctor --config prod.json --offline
  npm run collector -- doctor --stack my-collector --region eu-central-1
  npm run --silent collector -- doctor --json | jq '.checks[] | select(.state == "problem")'
`;
