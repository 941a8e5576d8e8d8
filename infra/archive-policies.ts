import {
  AnyPrincipal,
  ArnPrincipal,
  Effect,
  type IRole,
  PolicyStatement,
  type PolicyStatementProps,
} from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { sealsPrefix } from '../lambda/archive/archive-layout';

/** The bucket refuses the collector's role to overwrite and to delete, whatever the role's own policies allow. */
export function denyChanges(bucket: IBucket, role: IRole): PolicyStatement[] {
  const principals = [new ArnPrincipal(role.roleArn)];
  const resources = [bucket.arnForObjects('*')];
  return [
    deny('OnlyNewObjects', {
      principals,
      actions: ['s3:PutObject'],
      resources,
      conditions: { Null: { 's3:if-none-match': 'true' } },
    }),
    deny('NoDeletion', { principals, actions: ['s3:DeleteObject*', 's3:BypassGovernanceRetention'], resources }),
  ];
}

/**
 * The bucket takes seals from the audit's role only, takes only new ones, and takes nothing else from that role, whatever
 * the policies of the roles allow.
 * @param others prefixes of what the collector writes
 */
export function denySeals(bucket: IBucket, auditRole: IRole, others: readonly string[]): PolicyStatement[] {
  const everybody = [new AnyPrincipal()];
  const audit = [new ArnPrincipal(auditRole.roleArn)];
  const below = (prefixes: readonly string[]) => prefixes.map((prefix) => bucket.arnForObjects(`${prefix}*`));
  return [
    deny('SealsByAuditOnly', {
      principals: everybody,
      actions: ['s3:PutObject'],
      resources: below([sealsPrefix]),
      conditions: { ArnNotEquals: { 'aws:PrincipalArn': auditRole.roleArn } },
    }),
    deny('OnlyNewSeals', {
      principals: everybody,
      actions: ['s3:PutObject'],
      resources: below([sealsPrefix]),
      conditions: { Null: { 's3:if-none-match': 'true' } },
    }),
    deny('AuditArchivesNothing', { principals: audit, actions: ['s3:PutObject'], resources: below(others) }),
    deny('AuditDeletesNothing', {
      principals: audit,
      actions: ['s3:DeleteObject*', 's3:BypassGovernanceRetention'],
      resources: below(['']),
    }),
  ];
}

/**
 * The bucket takes from nobody what the audit could not read: an object in another storage class, of which GLACIER is one,
 * or one that is encrypted with a key that only its writer has (SSE-C).
 */
export function denyUnreadable(bucket: IBucket): PolicyStatement[] {
  const writing = {
    principals: [new AnyPrincipal()],
    actions: ['s3:PutObject'],
    resources: [bucket.arnForObjects('*')],
  };
  return [
    deny('OnlyStandardClass', {
      ...writing,
      conditions: {
        // A write that names no class goes to STANDARD. StringNotEquals holds for it too, with IfExists or without.
        Null: { 's3:x-amz-storage-class': 'false' },
        StringNotEquals: { 's3:x-amz-storage-class': 'STANDARD' },
      },
    }),
    deny('NoCustomerKeys', {
      ...writing,
      conditions: { Null: { 's3:x-amz-server-side-encryption-customer-algorithm': 'false' } },
    }),
  ];
}

function deny(sid: string, props: PolicyStatementProps): PolicyStatement {
  return new PolicyStatement({ sid, effect: Effect.DENY, ...props });
}
