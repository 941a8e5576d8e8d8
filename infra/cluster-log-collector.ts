import { Stack, Tags, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type * as z from 'zod';
import type { ConfigProblem } from '../archive/format/schema-problems';
import { type CollectorConfig, ConfigError, parseConfig } from './config/config';
import type { configSchema } from './config/config-schema';
import { partitionProblem } from './config/schema-values';
import { ConfiguredCollector } from './configured-collector';

export { ConfigError } from './config/config';

/** What a file collector.json holds: collector.schema.json, where every member is explained. */
export type ClusterLogCollectorProps = z.input<ReturnType<typeof configSchema>>;

/**
 * Archives the logs and manifests of a fleet of clusters in a bucket of its own, on a schedule; for a stack of one's own.
 * Files that the configuration names are relative to the current directory.
 */
export class ClusterLogCollector extends ConfiguredCollector {
  /** @throws ConfigError with all problems of the configuration at once */
  constructor(scope: Construct, id: string, props: ClusterLogCollectorProps) {
    const path = `of ${scope.node.path === '' ? id : `${scope.node.path}/${id}`}`;
    const config = parseConfig(props, path, process.cwd());
    const problems = [...placeProblems(Stack.of(scope), config), ...nameProblems(Stack.of(scope), config)];
    if (problems.length > 0) throw new ConfigError(path, problems);
    super(scope, id, config);
    for (const [key, value] of Object.entries(config.tags)) Tags.of(this).add(key, value);
  }
}

/** The stack decides where it is deployed to. A configuration that names another place, or one that nobody knows yet, is refused. */
function placeProblems({ account, region }: Stack, { deployTo }: CollectorConfig): ConfigProblem[] {
  const known = (value: string) => (Token.isUnresolved(value) ? undefined : value);
  const expectedRegion = deployTo === undefined && partitionProblem(known(region) ?? '');
  if (expectedRegion) return [{ path: "region of the stack's env", received: region, expected: expectedRegion }];
  return Object.entries(deployTo ?? {}).flatMap(([member, received]) => {
    const own = known(member === 'account' ? account : region);
    if (own === received) return [];
    const expected =
      own === undefined ? `the stack to have this ${member} in its env` : `${own}, as the stack's env has it`;
    return [{ path: `deployTo.${member}`, received: JSON.stringify(received), expected }];
  });
}

/** Alarms, dashboard and aliases of keys have the name in theirs, and metrics are told apart by it. */
function nameProblems(stack: Stack, { name }: CollectorConfig): ConfigProblem[] {
  const isTaken = stack.node.findAll().some((one) => one instanceof ConfiguredCollector && one.name === name);
  const expected = 'a name that no other collector of this stack has';
  return isTaken ? [{ path: 'name', received: JSON.stringify(name), expected }] : [];
}
