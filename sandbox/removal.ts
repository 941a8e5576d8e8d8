import * as z from 'zod';
import { formatCount } from '../cli/terminal/format';
import { type Aws, until } from './aws';
import { isOwnName, type SandboxAccount, SandboxError, sandboxTag } from './sandbox-account';
import { CommandError, type Shell } from './shell';

/** What a removal needs: `--clean` has nothing else. */
export interface Removing extends SandboxAccount {
  readonly name: string;
  readonly shell: Shell;
  readonly aws: Aws;
}

const mapping = z.looseObject({
  ResourceARN: z.string(),
  Tags: z.optional(z.array(z.looseObject({ Key: z.string(), Value: z.string() }))),
});
const tagged = z.looseObject({ ResourceTagMappingList: z.array(mapping) });

/** What has the tag of a sandbox, as ARNs. @param example in a dry run */
async function taggedWith(aws: Aws, name: string | undefined, example: readonly string[]) {
  const filter = `Key=${sandboxTag}${name === undefined ? '' : `,Values=${name}`}`;
  const found = example.map((ResourceARN) => ({
    ResourceARN,
    Tags: [{ Key: sandboxTag, Value: name ?? 'sandbox-0a1b2c' }],
  }));
  const args = ['resourcegroupstaggingapi', 'get-resources', '--tag-filters', filter];
  return (await aws.ask(args, tagged, { ResourceTagMappingList: found })).ResourceTagMappingList;
}

/** The sandboxes of which something is there. */
export async function sandboxesIn(aws: Aws): Promise<readonly string[]> {
  const found = await taggedWith(aws, undefined, ['arn:aws:s3:::ARCHIVE-BUCKET']);
  const names = found.flatMap(({ Tags = [] }) => Tags.flatMap(({ Key, Value }) => (Key === sandboxTag ? Value : [])));
  return [...new Set(names)].filter(isOwnName).sort();
}

/** Removes everything that has the tag of a sandbox: stacks, versions, buckets, keys, secrets, log groups. */
export async function removeAll({ name, account, aws, shell }: Removing): Promise<string> {
  if (!isOwnName(name)) throw new SandboxError(`Removing ${name} was refused: no sandbox has such a name`);
  for (const stack of [name, `${name}-service`]) await removeStack(aws, stack);
  const example = ['arn:aws:s3:::ARCHIVE-BUCKET', `arn:aws:kms:REGION:${account}:key/KEY`];
  const arns = (await taggedWith(aws, name, example)).map(({ ResourceARN }) => ResourceARN);
  // The bucket of access logs sorts before the one that they are of, and S3 goes on writing into it: it comes last.
  for (const arn of arns.toSorted().toReversed()) {
    const [, , service = '', , , id = ''] = arn.split(':');
    if (service === 's3') await removeBucket(aws, shell, id);
    if (service === 'kms') await removeKey(aws, id.replace('key/', ''));
    if (service === 'secretsmanager')
      await aws.do(['secretsmanager', 'delete-secret', '--secret-id', arn, '--force-delete-without-recovery']);
    if (service === 'logs')
      await aws.do(['logs', 'delete-log-group', '--log-group-name', arn.split(':log-group:')[1] ?? '']);
  }
  return `stacks, versions, buckets, keys and secrets of ${name} were removed`;
}

async function removeStack(aws: Aws, stack: string): Promise<void> {
  const of = ['--stack-name', stack];
  if (!(await aws.hasStack(stack))) return;
  await aws.do(['cloudformation', 'update-termination-protection', '--no-enable-termination-protection', ...of]);
  await aws.do(['cloudformation', 'delete-stack', ...of]);
  await aws.do(['cloudformation', 'wait', 'stack-delete-complete', ...of]);
}

const version = z.looseObject({ Key: z.string(), VersionId: z.string() });
const versions = z.looseObject({
  Versions: z.optional(z.nullable(z.array(version))),
  DeleteMarkers: z.optional(z.nullable(z.array(version))),
});
const deletion = z.looseObject({ Errors: z.optional(z.array(z.looseObject({ Code: z.string(), Key: z.string() }))) });

async function removeBucket(aws: Aws, shell: Shell, bucket: string): Promise<void> {
  const of = ['--bucket', bucket];
  // It denies deletions, and with it S3 delivers access logs.
  await aws.do(['s3api', 'delete-bucket-policy', ...of]);
  await until(shell, `the removal of ${bucket}, into which something is written`, 10, async () => {
    await empty(aws, shell, bucket);
    await aws.do(['s3api', 'delete-bucket', ...of]);
    return true;
  });
}

/** Deletes every version and every delete marker, a thousand at a time. */
async function empty(aws: Aws, shell: Shell, bucket: string): Promise<void> {
  const list = ['s3api', 'list-object-versions', '--bucket', bucket, '--max-keys', '1000', '--no-paginate'];
  let isFirst = true;
  for (;;) {
    const example = isFirst ? { Versions: [{ Key: 'KEY', VersionId: 'ID' }] } : {};
    isFirst = false;
    const { Versions, DeleteMarkers } = await aws.ask(list, versions, example);
    const found = [...(Versions ?? []), ...(DeleteMarkers ?? [])];
    if (found.length === 0) return;
    const Objects = found.map(({ Key, VersionId }) => ({ Key, VersionId }));
    const file = shell.write('versions.json', JSON.stringify({ Quiet: true, Objects }));
    const deleting = ['s3api', 'delete-objects', '--bucket', bucket, '--delete', `file://${file}`];
    const { Errors: [refused] = [] } = await aws.ask(deleting, deletion, {});
    if (refused !== undefined) throw new CommandError(`Emptying ${bucket} failed: ${refused.Code} for ${refused.Key}`);
  }
}

const keySchema = z.looseObject({ KeyMetadata: z.looseObject({ KeyState: z.string() }) });
const pending = 'PendingDeletion';

async function stateOf(aws: Aws, key: string, example: string): Promise<string> {
  const args = ['kms', 'describe-key', '--key-id', key];
  return (await aws.ask(args, keySchema, { KeyMetadata: { KeyState: example } })).KeyMetadata.KeyState;
}

async function removeKey(aws: Aws, key: string): Promise<void> {
  if ((await stateOf(aws, key, 'Enabled')) === pending) return;
  await aws.do(['kms', 'schedule-key-deletion', '--key-id', key, '--pending-window-in-days', '7']);
}

/** Looks for what still has the tag. Keys are deleted by KMS after seven days, and cost nothing meanwhile. @throws CommandError naming it */
export async function refuseLeftovers({ name, aws, shell, account }: Removing): Promise<string> {
  let left: string[] = [];
  const example = [`arn:aws:kms:REGION:${account}:key/KEY`];
  const look = async () => {
    const arns = (await taggedWith(aws, name, example)).map(({ ResourceARN }) => ResourceARN);
    const keys = arns.filter((arn) => arn.split(':')[2] === 'kms');
    const alive = [];
    for (const key of keys) if ((await stateOf(aws, key, pending)) !== pending) alive.push(key);
    left = [...arns.filter((arn) => !keys.includes(arn)), ...alive];
    return left.length === 0 ? keys.length : undefined;
  };
  // The list of what has a tag may name for minutes what is gone.
  const keys = await until(shell, 'the end of everything', 5, look).catch((cause: unknown) => {
    if (left.length === 0) throw cause;
    throw new CommandError(`${left.length} left of ${name}: ${left.join(', ')}`, { cause });
  });
  return `nothing is left that has the tag of ${name}, but ${formatCount(keys, 'key')} that KMS deletes after seven days`;
}
