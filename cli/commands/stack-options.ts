import { type Command, Option } from 'commander';
import { loadConfig } from '../../infra/config/config';
import type { StackName } from '../stack/aws-access';

export interface StackOptions {
  readonly stack?: string;
  readonly config: string;
  readonly region?: string;
}

/** Adds the options that name a deployed stack. */
export function withStack(command: Command): Command {
  return command
    .addOption(new Option('--stack <name>', 'the deployed stack').conflicts('config'))
    .option('--config <file>', 'the configuration that names the stack', 'collector.json')
    .option('--region <region>', 'the region of the stack (default: of the configuration, or of the profile)');
}

/** @throws ConfigError if the stack is named by a configuration that cannot be used */
export function stackNameOf({ stack, config, region }: StackOptions): StackName {
  if (stack !== undefined) return { name: stack, region };
  const { name, deployTo } = loadConfig(config);
  return { name, region: region ?? deployTo?.region };
}
