import { ArnPrincipal, Effect, type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';

/**
 * What the archive itself refuses the collector, whatever the collector's own policies may come to say: to write over
 * what is there, and to delete it.
 */
export function denyChanges(bucket: IBucket, role: IRole): PolicyStatement[] {
  const principals = [new ArnPrincipal(role.roleArn)];
  const resources = [bucket.arnForObjects('*')];
  return [
    new PolicyStatement({
      sid: 'OnlyNewObjects',
      effect: Effect.DENY,
      principals,
      actions: ['s3:PutObject'],
      resources,
      conditions: { Null: { 's3:if-none-match': 'true' } },
    }),
    new PolicyStatement({
      sid: 'NoDeletion',
      effect: Effect.DENY,
      principals,
      actions: ['s3:DeleteObject*', 's3:BypassGovernanceRetention'],
      resources,
    }),
  ];
}
