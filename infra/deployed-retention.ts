import type { Stack } from '@aws-sdk/client-cloudformation';
import { type CollectorConfig, ConfigError } from './config/config';

/** Name of the output that says how long the archive is kept. */
export const retentionOutput = 'RetentionDays';

/** The value of this output. @param days undefined: nothing expires */
export function retentionText(days: number | undefined): string {
  return days === undefined ? 'never' : String(days);
}

/** @returns days after which the archive of a deployed stack expires, Infinity if nothing does; undefined: the stack does not say */
export function retentionIn(stack: Pick<Stack, 'Outputs'> | undefined): number | undefined {
  const text = stack?.Outputs?.find(({ OutputKey }) => OutputKey === retentionOutput)?.OutputValue;
  if (text === undefined) return undefined;
  return text === retentionText(undefined) ? Number.POSITIVE_INFINITY : Number(text);
}

/**
 * Refuses to deploy a shorter retention than the deployed one: S3 applies it to what is archived already.
 * @param region that the command line deploys to, where the configuration names none
 * @param warn is told if CloudFormation could not be asked
 * @throws ConfigError
 */
export async function refuseShorterRetention(
  { name, archive, deployTo }: CollectorConfig,
  region: string | undefined,
  file: string,
  warn: (message: string) => void,
): Promise<void> {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ region: deployTo?.region ?? region, maxAttempts: 2 });
  const { retentionDays = Number.POSITIVE_INFINITY } = archive;
  const answer = await client.send(new DescribeStacksCommand({ StackName: name })).catch((error: Error) => {
    if (!/does not exist/.test(error.message))
      warn(
        `The stack ${name} could not be asked how long its archive is kept (${error.name}: ${error.message}). ` +
          'Make sure yourself that archive.retentionDays is not shorter than it was, or set AWS_PROFILE in place of --profile.',
      );
  });
  const deployed = retentionIn(answer?.Stacks?.[0]);
  if (deployed === undefined || retentionDays >= deployed) return;
  const expected =
    `${Number.isFinite(deployed) ? `at least ${deployed}, as deployed` : 'nothing, as deployed: nothing expires'}. ` +
    'S3 would hide older objects at the next midnight and delete them 30 days later. If you mean it: -c shortenRetention=true';
  throw new ConfigError(file, [{ path: 'archive.retentionDays', received: String(retentionDays), expected }]);
}
