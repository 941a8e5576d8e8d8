import { readFileSync } from 'node:fs';
import type { App } from 'aws-cdk-lib';
import * as z from 'zod';
import { createApp } from '../../infra/collector-app';
import { parseConfig } from '../../infra/config/config';
import { Aws } from '../../sandbox/aws';
import { deploySteps } from '../../sandbox/deploy-steps';
import { refuseLeftovers, removeAll, sandboxesIn } from '../../sandbox/removal';
import { newName, refuseOtherAccount, sandboxTag } from '../../sandbox/sandbox-account';
import { serviceStack } from '../../sandbox/service-stack';
import { type Answer, CommandError, RealShell, type Shell } from '../../sandbox/shell';
import type { Sandbox, Step } from '../../sandbox/step';
import { type Line, trySteps } from '../../sandbox/try-steps';
import type { TemplateJson } from '../infra/example-stack';
import { findCommand, type MotoServer, startMoto } from '../local/aws/moto-server';
import { newFolder } from '../support/new-folder';

const account = '123456789012';
const region = 'eu-central-1';

/** What moto makes of the stacks: it runs no functions, and makes nothing of what is left out here. */
const madeByMoto = /^AWS::(IAM::Role|S3::Bucket|SNS::Topic|SQS::Queue|Logs::LogGroup|CloudWatch::Alarm)$/;

/** Calls moto by AWS's own command line; in the place of CDK's one, it hands moto what moto can make. */
class MotoShell implements Shell {
  readonly #real: RealShell;
  /** ARN of the key's secret, once it is there. */
  #secret = '';

  constructor(
    folder: string,
    private readonly url: string,
  ) {
    this.#real = new RealShell(folder, () => undefined);
  }

  write(name: string, content: string): string {
    return this.#real.write(name, content);
  }

  wait(): Promise<void> {
    // What moto has not done by now, it never does.
    return Promise.reject(new CommandError('nothing changes in moto by itself'));
  }

  async run(...[command, options]: Parameters<Shell['run']>): Promise<Answer> {
    if (command[0] === 'npx') return this.#deploy(command, options);
    // Moto knows no protection of stacks.
    if (command.includes('update-termination-protection')) return options.example;
    const answer = await this.#aws(command.slice(1), options);
    if (this.#secret === '' || !command.includes('list-stack-resources')) return answer;
    const found = JSON.parse(answer.out) as { StackResourceSummaries: object[] };
    const secret = { LogicalResourceId: 'ApiKeySecret', ResourceType: 'AWS::SecretsManager::Secret' };
    const all = [...found.StackResourceSummaries, { ...secret, PhysicalResourceId: this.#secret }];
    return { ...answer, out: JSON.stringify({ StackResourceSummaries: all }) };
  }

  #aws(args: readonly string[], options: Parameters<Shell['run']>[1]): Promise<Answer> {
    const environment = { AWS_ENDPOINT_URL: this.url, AWS_ACCESS_KEY_ID: 'moto', AWS_SECRET_ACCESS_KEY: 'moto' };
    return this.#real.run(['aws', ...args], { ...options, environment });
  }

  async #deploy(command: readonly string[], options: Parameters<Shell['run']>[1]): Promise<Answer> {
    const { name, template } = this.#synthesised(command, options.environment ?? {});
    const tag = name.replace('-service', '');
    const call = (args: readonly string[]) => this.#aws([...args, '--region', region, '--output', 'json'], options);
    const ofType = (type: string) => Object.values(template.Resources).filter(({ Type }) => Type === type);
    // Moto's CloudFormation makes no secrets, and keys that moto itself cannot describe.
    for (const _ of ofType('AWS::SecretsManager::Secret')) {
      const tags = ['--tags', `Key=${sandboxTag},Value=${tag}`];
      const { out } = await call(['secretsmanager', 'create-secret', '--name', `${name}-key`, ...tags]);
      this.#secret = JSON.parse(out).ARN;
    }
    for (const _ of ofType('AWS::KMS::Key'))
      await call(['kms', 'create-key', '--tags', `TagKey=${sandboxTag},TagValue=${tag}`]);
    const body = this.write('template.json', JSON.stringify(madeOf(template, tag)));
    const create = ['cloudformation', 'create-stack', '--stack-name', name, '--template-body', `file://${body}`];
    return call([...create, '--tags', `Key=${sandboxTag},Value=${tag}`]);
  }

  #synthesised(command: readonly string[], { SANDBOX_NAME = '', SANDBOX_KEY = '' }: Readonly<Record<string, string>>) {
    if (command.includes('--app')) {
      const stack = serviceStack(SANDBOX_NAME, { account, region }, SANDBOX_KEY);
      const [artifact] = (stack.node.root as App).synth().stacks;
      return { name: stack.stackName, template: artifact?.template as TemplateJson };
    }
    const file = command.find((word) => word.startsWith('config='))?.slice('config='.length) ?? '';
    const config = parseConfig(JSON.parse(readFileSync(file, 'utf8')), file);
    const { app } = createApp({ config, validate: false, context: { 'aws:cdk:bundling-stacks': [] } });
    return { name: config.name, template: app.synth().getStackByName(config.name).template as TemplateJson };
  }
}

/** A template of what moto makes. It hands no tags on from stacks to resources, as CloudFormation does. */
function madeOf({ Resources, Outputs }: TemplateJson, name: string): object {
  const kept = Object.entries(Resources).filter(([, { Type }]) => madeByMoto.test(Type));
  const names = kept.map(([id]) => id);
  const Tags = [{ Key: sandboxTag, Value: name }];
  const tagged = kept.map(([id, resource]) => {
    const Properties = { ...resource.Properties, ...(!resource.Type.endsWith('Alarm') && { Tags }) };
    return [id, { ...resource, Properties }];
  });
  const text = JSON.stringify({ Resources: Object.fromEntries(tagged), Outputs }, (member, value: unknown) => {
    if (member === 'DependsOn') return [value].flat().filter((id) => names.includes(String(id)));
    if (typeof value !== 'object' || value === null) return value;
    const { Ref: ref, 'Fn::GetAtt': attribute } = value as Record<string, unknown>;
    const id = Array.isArray(attribute) ? String(attribute[0]) : ref;
    if (typeof id !== 'string' || names.includes(id) || id.startsWith('AWS::')) return value;
    return id.includes('Url') ? 'https://demo.example.org/' : `arn:aws:nothing:::${id}`;
  });
  // moto deletes what RetainExceptOnCreate keeps.
  return JSON.parse(text.replaceAll('"RetainExceptOnCreate"', '"Retain"'));
}

const missing = ['moto_server', 'aws'].filter((name) => findCommand(name) === undefined);

(missing.length > 0 ? describe.skip : describe)(
  `the steps of the sandbox, moto in the place of the account (skipped without ${missing.join(', ') || 'moto_server or aws'})`,
  () => {
    let moto: MotoServer;
    let shell: MotoShell;
    let aws: Aws;
    const name = newName();
    let sandbox: Sandbox;

    beforeAll(async () => {
      moto = await startMoto(findCommand('moto_server') ?? '');
      shell = new MotoShell(newFolder(), moto.url);
      aws = new Aws(shell, region);
      sandbox = {
        ...{ name, account, region, shell, aws, apiKey: 'the key' },
        say: () => undefined,
      };
    });
    afterAll(() => moto.stop());

    const run = async (steps: readonly Step[]) => {
      const interrupted = new AbortController().signal;
      const lines = await trySteps(sandbox, steps, { placeOf: () => 'moto', isDry: false, now: () => 0, interrupted });
      return lines.map(({ step, verdict, seenBy, found }: Line) => ({ step, verdict, seenBy, found }));
    };
    const removing: readonly Step[] = [
      { name: 'removal', minutes: 8, usage: {}, work: removeAll },
      { name: 'leftovers', minutes: 2, usage: {}, work: refuseLeftovers },
    ];
    const right = { verdict: 'right', seenBy: 'moto', found: expect.any(String) };

    it('deploys beside each other what moto makes of both stacks, sets the key, and subscribes to both topics', async () => {
      await refuseOtherAccount(aws, { account, region });
      await expect(refuseOtherAccount(aws, { account: '999999999999', region })).rejects.toThrow('was refused');
      expect(await run(deploySteps)).toEqual([
        { step: 'service', ...right },
        { step: 'deployment', ...right },
      ]);
      const [ofTopics, value] = await Promise.all([
        aws.ask(['sns', 'list-subscriptions'], z.looseObject({ Subscriptions: z.array(z.unknown()) }), {
          Subscriptions: [],
        }),
        aws.ask(
          [
            'secretsmanager',
            'get-secret-value',
            '--secret-id',
            await aws.idOf(name, 'AWS::SecretsManager::Secret', 'ApiKeySecret'),
          ],
          z.looseObject({ SecretString: z.string() }),
          { SecretString: '' },
        ),
      ]);
      expect(ofTopics.Subscriptions).toHaveLength(2);
      expect(value.SecretString).toBe('the key');
    }, 900_000);

    it('names what is left, and fails; removes every version, bucket, key and secret; and then nothing is left', async () => {
      const { ArchiveBucket = '' } = await aws.outputsOf(name);
      const object = ['--bucket', ArchiveBucket, '--key', 'runs/one'];
      const body = shell.write('body', 'content');
      await aws.do([
        's3api',
        'put-bucket-versioning',
        '--bucket',
        ArchiveBucket,
        '--versioning-configuration',
        'Status=Enabled',
      ]);
      for (let times = 0; times < 3; times += 1) await aws.do(['s3api', 'put-object', ...object, '--body', body]);
      await aws.do(['s3api', 'delete-object', ...object]);
      const [, leftovers] = removing;
      if (leftovers === undefined) throw new Error('no step');
      const [before] = await run([leftovers]);
      expect(before).toMatchObject({
        step: 'leftovers',
        verdict: 'wrong',
        found: expect.stringContaining(ArchiveBucket),
      });
      expect(await sandboxesIn(aws)).toEqual([name]);
      expect(await run(removing)).toEqual([
        { step: 'removal', ...right },
        { step: 'leftovers', ...right },
      ]);
      const all = await aws.ask(['s3api', 'list-buckets'], z.looseObject({ Buckets: z.array(z.looseObject({})) }), {
        Buckets: [],
      });
      expect(all.Buckets).toEqual([]);
      // Again, as --clean does after an interruption: what is gone is no failure.
      expect(await run(removing)).toMatchObject([{ verdict: 'right' }, { verdict: 'right' }]);
    }, 900_000);
  },
);
