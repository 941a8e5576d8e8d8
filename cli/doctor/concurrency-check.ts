import type { CollectorConfig } from '../../infra/config/config';
import { concurrentShards } from '../../infra/limits';
import { withAws } from '../stack/aws-access';
import { notSeenHere, right, type Shown, worthKnowing } from './check';

/** Whether the account has as many invocations at once as a run needs: a new account has ten. */
export async function concurrencyOf(
  region: string,
  { shards, limits }: Pick<CollectorConfig, 'shards' | 'limits'>,
): Promise<Shown> {
  const { LambdaClient, GetAccountSettingsCommand } = await import('@aws-sdk/client-lambda');
  const needed = concurrentShards(shards);
  const raise = 'ask for more: Service Quotas, AWS Lambda, "Concurrent executions"';
  const { AccountLimit } = await withAws("Reading the account's limits of Lambda", () =>
    new LambdaClient({ region }).send(new GetAccountSettingsCommand({})),
  );
  const { ConcurrentExecutions: all, UnreservedConcurrentExecutions: unreserved } = AccountLimit ?? {};
  if (all === undefined || unreserved === undefined) return notSeenHere('Lambda names no limits', raise);
  const found = `a run needs ${needed} at once, and the account has ${all}, ${unreserved} of them reserved for nobody`;
  // A reservation leaves at least 100 to the others.
  if (limits.oneRunAtATime ? all >= needed + 100 : unreserved >= needed) return right(found);
  const outcome = limits.oneRunAtATime
    ? 'limits.oneRunAtATime cannot be deployed'
    : 'the shards take turns, and may give up';
  return worthKnowing(`${found}: ${outcome}`, raise);
}
