import type { CollectorConfig } from '../../infra/config/config';
import { systemClock } from '../../lambda/clock';
import { firingsOf } from '../../lambda/schedule/firings';
import { environmentNames } from '../../lambda/stack-contract';
import { ArchiveReadError } from '../../lambda/verify/archive-reader';
import { runMarginHours } from '../../lambda/verify/time-limits';
import { openBucket } from '../archive/open-archive';
import { RunReader } from '../archive/run-reader';
import { AwsAccessError, type StackName, stackArguments, withAws } from '../stack/aws-access';
import { type DeployedCollector, findStack } from '../stack/find-stack';
import { formatAge, formatTime } from '../terminal/format';
import { totalOf } from '../terminal/print-run';
import { type Check, checksOf } from './check';

/** What the account shows, and the API key if it may be read. */
export interface AccountFindings {
  readonly checks: readonly Check[];
  readonly apiKey: string | undefined;
}

/** Looks at the deployed stack, its key, its recipients and its newest run. What it cannot see becomes a check too. */
export async function accountChecks(
  stack: StackName,
  config: CollectorConfig | undefined,
  now: Date,
): Promise<AccountFindings> {
  let collector: DeployedCollector;
  try {
    collector = await findStack(stack);
  } catch (error) {
    const act = 'fix that and run doctor again: key, subscriptions and newest run were not looked at';
    if (error instanceof AwsAccessError)
      return { checks: [checksOf('stack').problem(error.message, act)], apiKey: undefined };
    throw error;
  }
  const { archiveBucket, region, alertTopicArn, informTopicArn } = collector;
  let apiKey: string | undefined;
  const key = await look('API key', 'use credentials that may read the function', async (check) => {
    const found = await keyIn(collector, check);
    apiKey = found.value;
    return found.check;
  });
  const topics = [{ what: 'subscriptions', topicArn: alertTopicArn }];
  if (informTopicArn !== undefined) topics.push({ what: 'subscriptions of inform', topicArn: informTopicArn });
  const checks = [stateOf(collector, config), key];
  for (const { what, topicArn } of topics)
    checks.push(
      await look(what, 'use credentials that may list the subscriptions', (check) =>
        subscriptionsOf(region, topicArn, check),
      ),
    );
  const run = await look('newest run', `use credentials that may read s3://${archiveBucket}`, (check) =>
    newestRun(collector, config, check, now),
  );
  return { checks: [...checks, run], apiKey };
}

type Checks = ReturnType<typeof checksOf>;

/** Makes the check of one thing. What could not be looked at is `unknown`. @param act what to do then */
async function look(what: string, act: string, work: (check: Checks) => Promise<Check>): Promise<Check> {
  try {
    return await work(checksOf(what));
  } catch (error) {
    if (error instanceof AwsAccessError || error instanceof ArchiveReadError)
      return checksOf(what).unknown(error.message, act);
    throw error;
  }
}

function stateOf({ name, status, accountId, region }: DeployedCollector, config: CollectorConfig | undefined): Check {
  const check = checksOf('stack');
  const found = `${name} in account ${accountId}, region ${region}: ${status}`;
  const pinned = config?.deployTo;
  if (pinned !== undefined && (pinned.account !== accountId || pinned.region !== region))
    return check.problem(
      `${found}, but the configuration pins it to ${pinned.account}, ${pinned.region}`,
      'choose the profile of that account',
    );
  if (/^(CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status)) return check.ok(found);
  if (/_IN_PROGRESS$/.test(status)) return check.warning(found, 'wait until the deployment has ended');
  if (status === 'UPDATE_ROLLBACK_COMPLETE')
    return check.warning(`${found}: the last deployment failed, and the version before it is running`, 'deploy again');
  const heading = status.startsWith('UPDATE_') ? 'When an update fails' : 'When the first deployment fails';
  return check.problem(found, `see docs/operations.md, "${heading}"`);
}

async function keyIn(
  { region, functionName }: DeployedCollector,
  check: Checks,
): Promise<{ readonly check: Check; readonly value?: string }> {
  const { LambdaClient, GetFunctionConfigurationCommand } = await import('@aws-sdk/client-lambda');
  const { SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const { ApiKey, ApiKeyError, isOwnSecret } = await import('../../lambda/service/api-key');
  const { Environment } = await withAws(`Reading the environment of the function ${functionName}`, () =>
    new LambdaClient({ region }).send(new GetFunctionConfigurationCommand({ FunctionName: functionName })),
  );
  const secret = Environment?.Variables?.[environmentNames.apiKeySecret];
  if (secret === undefined)
    return { check: check.problem(`the function ${functionName} names no secret`, 'deploy the stack again') };
  const keys = new ApiKey(new SecretsManagerClient({ region }), secret, systemClock);
  try {
    const value = await keys.current(new AbortController().signal);
    return { check: check.ok(`it is set, in the secret ${secret}`), value };
  } catch (error) {
    if (!(error instanceof ApiKeyError)) throw error;
    const isDenied = /AccessDenied|not authorized/.test(error.message);
    const found = `the secret ${secret} may not be read with these credentials`;
    if (isDenied) return { check: check.unknown(found, 'the next run shows whether it is set') };
    const setIt = isOwnSecret(secret) ? 'set it as the output SetApiKey says' : 'the secret belongs to somebody else';
    return { check: check.problem(error.message, setIt) };
  }
}

async function subscriptionsOf(region: string, topicArn: string | undefined, check: Checks): Promise<Check> {
  const subscribe = `subscribe somebody: aws sns subscribe --region ${region} --topic-arn ${topicArn} --protocol email --notification-endpoint ADDRESS`;
  if (topicArn === undefined) return check.unknown('the stack has no output AlertTopic', 'deploy the stack again');
  const { SNSClient, paginateListSubscriptionsByTopic } = await import('@aws-sdk/client-sns');
  const client = new SNSClient({ region });
  const confirmed: string[] = [];
  const pending: string[] = [];
  await withAws(`Listing the subscriptions of ${topicArn}`, async () => {
    const pages = paginateListSubscriptionsByTopic({ client }, { TopicArn: topicArn });
    for await (const { Subscriptions = [] } of pages)
      for (const { Protocol, Endpoint, SubscriptionArn = '' } of Subscriptions)
        (SubscriptionArn.startsWith('arn:') ? confirmed : pending).push(`${Protocol} ${Endpoint}`);
  });
  if (confirmed.length === 0 && pending.length === 0) return check.problem('nobody is subscribed', subscribe);
  if (pending.length === 0) return check.ok(`confirmed: ${confirmed.join(', ')}`);
  const found = `not confirmed: ${pending.join(', ')}${confirmed.length === 0 ? '' : `; confirmed: ${confirmed.join(', ')}`}`;
  const act = 'each has to follow the link in the mail "AWS Notification - Subscription Confirmation"';
  return confirmed.length === 0 ? check.problem(found, act) : check.warning(found, act);
}

async function newestRun(
  collector: DeployedCollector,
  config: CollectorConfig | undefined,
  check: Checks,
  now: Date,
): Promise<Check> {
  const { region, name } = collector;
  const runNow = `npm run collector -- run ${stackArguments({ name, region })}`;
  const archive = await openBucket(collector.archiveBucket, region);
  const run = await new RunReader(archive, now).newestRun();
  if (run === undefined) return check.warning('there is none yet', `start one: ${runNow}`);
  const counts = `${run.counts.archived} of ${totalOf(run.counts)} archived`;
  const found = `${formatTime(run.run)}, ${formatAge(now.getTime() - run.run.getTime())}: ${run.status}, ${counts}`;
  const due = lastDue(config, now);
  if (due !== undefined && due > run.run)
    return check.problem(
      `${found}; the run of ${formatTime(due)} was due and is not there`,
      `see docs/alarms.md, "Run missing"; then: ${runNow} --run ${formatTime(due)} --without-record`,
    );
  if (run.status === 'complete') return check.ok(found);
  return check.problem(found, `complete it: ${runNow} --run ${formatTime(run.run)}`);
}

const hourMs = 3_600_000;

/** The time of the newest due run that should have its record by now; undefined if no schedule is known. */
function lastDue(config: CollectorConfig | undefined, now: Date): Date | undefined {
  if (config?.schedule.enabled !== true) return undefined;
  const { expression, timeZone } = config.schedule;
  const until = new Date(now.getTime() - runMarginHours(config.shards, config.limits.oneRunAtATime) * hourMs);
  for (const days of [2, 40, 400]) {
    const from = new Date(until.getTime() - days * 24 * hourMs);
    const last = [...firingsOf(expression, timeZone).between(from, until)].at(-1);
    if (last !== undefined) return last.orAt ?? last.at;
  }
  return undefined;
}
