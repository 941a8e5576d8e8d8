import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import * as z from 'zod';
import { type CollectorConfig, ConfigError } from './config/config';

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({
      Type: z.string(),
      Properties: z
        .looseObject({
          LifecycleConfiguration: z
            .object({
              Rules: z.array(z.object({ Prefix: z.string().optional(), ExpirationInDays: z.number().optional() })),
            })
            .optional(),
        })
        .optional(),
    }),
  ),
});

/** Days after which the archive of a deployed stack expires. */
export interface DeployedRetention {
  /** Undefined: never. */
  readonly days: number | undefined;
}

/**
 * Asks CloudFormation for the deployed template.
 * @returns undefined if there is no such stack
 * @throws whatever the SDK throws, or an error if the template is not one of a collector
 */
export async function deployedRetention(
  client: CloudFormationClient,
  name: string,
): Promise<DeployedRetention | undefined> {
  const { GetTemplateCommand } = await import('@aws-sdk/client-cloudformation');
  const answer = await client.send(new GetTemplateCommand({ StackName: name })).catch((error: Error) => {
    if (/does not exist/.test(error.message)) return undefined;
    throw error;
  });
  if (answer === undefined) return undefined;
  const { Resources } = templateSchema.parse(JSON.parse(answer.TemplateBody ?? ''));
  const bucket = Object.entries(Resources).find(
    ([id, { Type }]) => Type === 'AWS::S3::Bucket' && id.startsWith('ArchiveBucket'),
  )?.[1];
  const rules = bucket?.Properties?.LifecycleConfiguration?.Rules ?? [];
  return { days: rules.find(({ Prefix }) => Prefix === 'logs/')?.ExpirationInDays };
}

/** Whether a retention is shorter than the deployed one; undefined: nothing expires. */
export function isShorter(days: number | undefined, deployed: DeployedRetention): boolean {
  return days !== undefined && days < (deployed.days ?? Number.POSITIVE_INFINITY);
}

/**
 * Refuses to deploy a shorter retention than the deployed one: S3 applies it to what is archived already.
 * @param ask asks for what is deployed
 * @param warn is told what could not be asked
 * @throws ConfigError
 */
export async function refuseShorterRetention(
  { name, archive: { retentionDays } }: CollectorConfig,
  file: string,
  ask: () => Promise<DeployedRetention | undefined>,
  warn: (message: string) => void,
): Promise<void> {
  let deployed: DeployedRetention | undefined;
  try {
    deployed = await ask();
  } catch (error) {
    const { name: kind, message } = error as Error;
    warn(
      `The stack ${name} could not be asked how long its archive is kept (${kind}: ${message}). ` +
        'Make sure yourself that archive.retentionDays is not shorter than it was, or set AWS_PROFILE in place of --profile.',
    );
    return;
  }
  if (deployed === undefined || !isShorter(retentionDays, deployed)) return;
  const expected =
    `${deployed.days === undefined ? 'nothing, as deployed: nothing expires' : `at least ${deployed.days}, as deployed`}. ` +
    'S3 would hide older objects at the next midnight and delete them 30 days later. If you mean it: -c shortenRetention=true';
  throw new ConfigError(file, [{ path: 'archive.retentionDays', received: String(retentionDays), expected }]);
}
