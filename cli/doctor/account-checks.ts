import { ArchiveReadError } from '../../archive/read';
import type { CollectorConfig } from '../../infra/config/config';
import { UnsupportedTemplateError } from '../../local/deployment/stack-template';
import { AwsAccessError, type StackName, withAws } from '../stack/aws-access';
import { CollectorNotFoundError, type DeployedCollector, findStack } from '../stack/find-stack';
import type { Terminal } from '../terminal/terminal';
import { clusterListOf, newestRun, sealsOf } from './archive-checks';
import { type Check, notSeen, notSeenHere, right, type Shown, worthKnowing, wrong } from './check';
import { concurrencyOf } from './concurrency-check';
import { heartbeatOf } from './heartbeat-check';
import { lifecycleOfCopy, policyOfSigningKey, protectionChecks, retentionOf } from './protection-checks';

/**
 * Looks at the deployed stack, its key, its recipients and its newest run. What it cannot see becomes a check too.
 * @returns the API key too, if it may be read
 */
export async function accountChecks(
  stack: StackName,
  config: CollectorConfig | undefined,
  terminal: Pick<Terminal, 'now'>,
): Promise<{ readonly checks: readonly Check[]; readonly apiKey?: string | undefined }> {
  let collector: DeployedCollector;
  try {
    collector = await findStack(stack);
  } catch (error) {
    if (!(error instanceof AwsAccessError)) throw error;
    const act = 'fix that and run doctor again: key, subscriptions and newest run were not looked at';
    const shown = error instanceof CollectorNotFoundError ? wrong : notSeen;
    return { checks: [{ what: 'stack', ...shown(error.message, act) }] };
  }
  const { archiveBucket, region, alertTopicArn, informTopicArn } = collector;
  const checks: Check[] = [{ what: 'stack', ...stateOf(collector, config) }];
  const look = async (what: string, mayDo: string, work: () => Promise<Shown>, showsElsewhere?: true) => {
    const act = `use credentials that may ${mayDo}`;
    const unseen = (error: unknown) => ({ ...notLookedAt(error, act), ...(showsElsewhere && { showsElsewhere }) });
    checks.push({ what, ...(await work().catch(unseen)) });
  };
  let apiKey: string | undefined;
  await look('API key', 'read the function', async () => {
    const { value, ...shown } = await keyIn(collector);
    apiKey = value;
    return shown;
  });
  const listing = 'list the subscriptions';
  const { page, inform } = config?.alerts ?? {};
  await look('subscriptions', listing, () => subscriptionsOf(region, alertTopicArn, page?.emails));
  if (informTopicArn !== undefined)
    await look('subscriptions of inform', listing, () => subscriptionsOf(region, informTopicArn, inform?.emails));
  try {
    checks.push(...(await protectionChecks(collector)));
  } catch (error) {
    checks.push({
      what: 'protection',
      ...notLookedAt(error, 'use credentials that may read the template of the stack'),
    });
  }
  if (config !== undefined && collector.retentionDays !== undefined)
    checks.push({ what: 'retention', ...retentionOf(collector.retentionDays, config) });
  // Whoever may not list its bucket is refused a list that is not there.
  const readingList = 'read it, list its bucket, and read the run records';
  if (config?.clusterList !== undefined)
    await look('list of clusters', readingList, () => clusterListOf(collector, config));
  if (config !== undefined && (config.shards > 1 || config.limits.oneRunAtATime))
    await look('concurrency', "read the account's settings of Lambda", () => concurrencyOf(region, config), true);
  const { signingKeyArn, signingKeyStatement } = collector;
  if (config?.audit !== undefined && signingKeyArn !== undefined)
    await look('seals', 'get the public key of the signing key, and read seals/', () =>
      sealsOf(collector, signingKeyArn, config.audit?.formerPublicKeys),
    );
  if (signingKeyArn !== undefined && signingKeyStatement !== undefined)
    await look('signing key', "read the key's policy", () =>
      policyOfSigningKey(region, signingKeyArn, signingKeyStatement),
    );
  const { replicateTo, retentionDays } = config?.archive ?? {};
  // The copy may belong to another account.
  if (replicateTo !== undefined && retentionDays !== undefined) {
    const compare = () => lifecycleOfCopy(replicateTo.bucketArn, retentionDays);
    await look('copy', 'read the lifecycle of the copy', compare, true);
  }
  if (config?.alerts.heartbeat !== undefined)
    await look('heartbeat', 'get the statistics of metrics', () => heartbeatOf(region, config, terminal.now()));
  await look('newest run', `read s3://${archiveBucket}`, () => newestRun(collector, terminal));
  return { checks, apiKey };
}

function notLookedAt(error: unknown, act: string): Shown {
  const isKnown = [AwsAccessError, ArchiveReadError, UnsupportedTemplateError].some((kind) => error instanceof kind);
  if (isKnown) return notSeen((error as Error).message, act);
  throw error;
}

function stateOf({ name, status, accountId, region }: DeployedCollector, config: CollectorConfig | undefined): Shown {
  const found = `${name} in account ${accountId}, region ${region}: ${status}`;
  const pinned = config?.deployTo;
  if (pinned !== undefined && (pinned.account !== accountId || pinned.region !== region))
    return wrong(
      `${found}, but the configuration pins it to ${pinned.account}, ${pinned.region}`,
      'choose the profile of that account',
    );
  if (/^(CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status)) return right(found);
  if (/_IN_PROGRESS$/.test(status)) return worthKnowing(found, 'wait until the deployment has ended');
  if (status === 'UPDATE_ROLLBACK_COMPLETE')
    return worthKnowing(`${found}: the last deployment failed, and the version before it is running`, 'deploy again');
  const heading = status.startsWith('UPDATE_') ? 'When an update fails' : 'When the first deployment fails';
  return wrong(found, `see docs/operations.md, "${heading}"`);
}

async function keyIn({ region, functionName }: DeployedCollector): Promise<Shown & { readonly value?: string }> {
  const { LambdaClient, GetFunctionConfigurationCommand } = await import('@aws-sdk/client-lambda');
  const { SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const { ApiKey, ApiKeyError, isOwnSecret } = await import('../../lambda/collect/service/api-key');
  const { Environment } = await withAws(`Reading the environment of the function ${functionName}`, () =>
    new LambdaClient({ region }).send(new GetFunctionConfigurationCommand({ FunctionName: functionName })),
  );
  const secret = Environment?.Variables?.API_KEY_SECRET;
  if (secret === undefined) return wrong(`the function ${functionName} names no secret`, 'deploy the stack again');
  const keys = new ApiKey(new SecretsManagerClient({ region }), secret);
  try {
    const value = await keys.current(new AbortController().signal);
    return { ...right(`it is set, in the secret ${secret}`), value };
  } catch (error) {
    if (!(error instanceof ApiKeyError)) throw error;
    const isDenied = /AccessDenied|not authorized/.test(error.message);
    const found = `the secret ${secret} may not be read with these credentials`;
    if (isDenied) return notSeenHere(found, 'the next run shows whether it is set');
    const setIt = isOwnSecret(secret) ? 'set it as the output SetApiKey says' : 'the secret belongs to somebody else';
    return wrong(error.message, setIt);
  }
}

/** @param emails addresses that the configuration names */
async function subscriptionsOf(
  region: string,
  topicArn: string | undefined,
  emails: readonly string[] = [],
): Promise<Shown> {
  const commandFor = (address: string) =>
    `aws sns subscribe --region ${region} --topic-arn ${topicArn} --protocol email --notification-endpoint ${address}`;
  if (topicArn === undefined) return notSeen('the stack has no output AlertTopic', 'deploy the stack again');
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
  const known = new Set([...confirmed, ...pending].map((line) => line.toLowerCase()));
  const gone = emails.filter((email) => !known.has(`email ${email}`.toLowerCase()));
  if (gone.length > 0)
    return wrong(
      `not subscribed: ${gone.join(', ')}; SNS deletes what is not confirmed within 48 hours, and no deployment brings it back`,
      `subscribe again, and follow the link within 48 hours:\n${gone.map(commandFor).join('\n')}`,
    );
  if (confirmed.length === 0 && pending.length === 0)
    return wrong('nobody is subscribed', `subscribe somebody: ${commandFor('ADDRESS')}`);
  if (pending.length === 0) return right(`confirmed: ${confirmed.join(', ')}`);
  const found = `not confirmed: ${pending.join(', ')}${confirmed.length === 0 ? '' : `; confirmed: ${confirmed.join(', ')}`}`;
  const act =
    'each has to follow the link in the mail "AWS Notification - Subscription Confirmation" within 48 hours, or SNS deletes the subscription';
  return confirmed.length === 0 ? wrong(found, act) : worthKnowing(found, act);
}
