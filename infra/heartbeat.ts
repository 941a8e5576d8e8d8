import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { HeartbeatEnvironment } from '../lambda/stack-contract';
import type { CollectorConfig } from './config/config';
import { allow } from './policy-statements';
import { addressText, type StackAddress } from './stack-address';

/**
 * Lets a role read the address of the monitoring service, and no other secret. Returns the environment in which the function finds
 * it; empty if none is configured.
 */
export function provideHeartbeat(
  role: IRole,
  { alerts: { heartbeat } }: CollectorConfig,
  address: StackAddress,
): Partial<HeartbeatEnvironment> {
  if (heartbeat === undefined) return {};
  const { secret } = heartbeat;
  // In an ARN, Secrets Manager appends a hyphen and six characters to the name.
  const parts = { service: 'secretsmanager', resource: 'secret', resourceName: `${secret}-??????` };
  const arn = Stack.of(role).formatArn({ ...parts, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
  allow(role, 'ReadHeartbeatAddress', ['secretsmanager:GetSecretValue'], [arn]);
  return { HEARTBEAT_SECRET: secret, STACK: addressText(address) };
}
