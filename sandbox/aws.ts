import * as z from 'zod';
import { type Answer, CommandError, type Shell, unexpected } from './shell';

/** What AWS's own command line answers. It is called as a person would: a dry run prints what can be pasted. */
export class Aws {
  constructor(
    readonly shell: Shell,
    readonly region: string,
  ) {}

  /** @param example what a dry run goes on with @throws CommandError */
  async ask<Value>(args: readonly string[], schema: z.ZodType<Value>, example: Value): Promise<Value> {
    const answer = { code: 0, out: JSON.stringify(example) };
    const { out } = await this.#run(args, [0], answer);
    return parsed(args, schema, out);
  }

  /** @throws CommandError for any refusal but that it does not exist: who may not ask has not seen that it is gone */
  async hasStack(name: string): Promise<boolean> {
    const args = ['cloudformation', 'describe-stacks', '--stack-name', name];
    // 254: the service answered an error; 255 of version 1.
    const answer = await this.#run(args, [0, 254, 255], { code: 0, out: '' });
    if (answer.code === 0) return true;
    if (/\(ValidationError\).*does not exist/s.test(answer.err ?? '')) return false;
    throw unexpected(['aws', ...args], answer);
  }

  async do(args: readonly string[]): Promise<void> {
    await this.#run(args, [0], { code: 0, out: '' });
  }

  #run(args: readonly string[], codes: readonly number[], example: Answer): Promise<Answer> {
    const command = ['aws', ...args, '--region', this.region, '--output', 'json'];
    return this.shell.run(command, { codes, example });
  }

  /** The outputs of a stack, by name. */
  async outputsOf(stack: string): Promise<Readonly<Record<string, string>>> {
    const example = { Stacks: [{ Outputs: exampleOutputs }] };
    const { Stacks } = await this.ask(['cloudformation', 'describe-stacks', '--stack-name', stack], stacks, example);
    const outputs = Stacks.flatMap(({ Outputs = [] }) => Outputs);
    return Object.fromEntries(outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  }

  /** The resources of a stack. */
  async resourcesOf(stack: string): Promise<readonly StackResource[]> {
    const args = ['cloudformation', 'list-stack-resources', '--stack-name', stack];
    const example = { StackResourceSummaries: exampleResources };
    return (await this.ask(args, resources, example)).StackResourceSummaries;
  }

  /** Physical id of the resource of a stack whose logical id begins so. */
  async idOf(stack: string, type: string, start: string): Promise<string> {
    const found = (await this.resourcesOf(stack)).find(
      ({ ResourceType, LogicalResourceId }) => ResourceType === type && LogicalResourceId.startsWith(start),
    );
    if (found?.PhysicalResourceId === undefined)
      throw new CommandError(`Finding ${start} in the stack ${stack} failed: it has no ${type} of that name`);
    return found.PhysicalResourceId;
  }
}

function parsed<Value>(args: readonly string[], schema: z.ZodType<Value>, out: string): Value {
  try {
    return schema.parse(JSON.parse(out === '' ? '{}' : out));
  } catch (cause) {
    throw new CommandError(`aws ${args.slice(0, 2).join(' ')} answered something else than expected`, { cause });
  }
}

/**
 * Asks again until there is an answer; a command that fails is asked again too.
 * @param minutes how long; a look every ten seconds
 * @throws CommandError with what failed last
 */
export async function until<Value>(
  shell: Pick<Shell, 'wait'>,
  what: string,
  minutes: number,
  look: () => Promise<Value | undefined>,
): Promise<Value> {
  let failure: CommandError | undefined;
  for (let looks = minutes * 6; looks > 0; looks -= 1) {
    try {
      const found = await look();
      if (found !== undefined) return found;
      failure = undefined;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      failure = error;
    }
    await shell.wait(10);
  }
  const why = failure === undefined ? '' : `; the last look: ${failure.message}`;
  throw new CommandError(`Waiting for ${what} failed: it did not come within ${minutes} minutes${why}`);
}

const output = z.looseObject({ OutputKey: z.string(), OutputValue: z.string() });
const stacks = z.looseObject({ Stacks: z.array(z.looseObject({ Outputs: z.optional(z.array(output)) })) });

const resource = z.looseObject({
  LogicalResourceId: z.string(),
  ResourceType: z.string(),
  PhysicalResourceId: z.optional(z.string()),
});
export type StackResource = z.output<typeof resource>;
const resources = z.looseObject({ StackResourceSummaries: z.array(resource) });

const exampleOutputs = Object.entries({
  ServiceUrl: 'https://SERVICE.lambda-url.REGION.on.aws/',
  ...{ ListBucket: 'LIST-BUCKET', QueueUrl: 'QUEUE-URL', QueueArn: 'QUEUE-ARN' },
  ...{ ArchiveBucket: 'ARCHIVE-BUCKET', AlertTopic: 'PAGE-TOPIC', InformTopic: 'INFORM-TOPIC' },
  ...{ SigningKey: 'SIGNING-KEY', SigningKeyPolicy: '{"Sid":"SignedByAuditOnly"}' },
}).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));

const exampleResources = (
  [
    ['ArchiveBucket', 'AWS::S3::Bucket'],
    ['ArchiveAccessLogs', 'AWS::S3::Bucket'],
    ['ArchiveKey', 'AWS::KMS::Key'],
    ['ApiKeySecret', 'AWS::SecretsManager::Secret'],
    ['CollectorFunction', 'AWS::Lambda::Function'],
    ['CollectorLogs', 'AWS::Logs::LogGroup'],
    ['AuditFunction', 'AWS::Lambda::Function'],
  ] as const
).map(([LogicalResourceId, ResourceType]) => ({
  ...{ LogicalResourceId, ResourceType },
  PhysicalResourceId: LogicalResourceId.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toUpperCase(),
}));
