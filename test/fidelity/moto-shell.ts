import { readFileSync } from 'node:fs';
import { CloudWatchClient, DescribeAlarmsCommand, PutMetricAlarmCommand } from '@aws-sdk/client-cloudwatch';
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import type { App } from 'aws-cdk-lib';
import * as z from 'zod';
import { createApp } from '../../infra/collector-app';
import { parseConfig } from '../../infra/config/config';
import { StackTemplate } from '../../local/deployment/stack-template';
import { sandboxTag } from '../../sandbox/sandbox-account';
import { serviceStack } from '../../sandbox/service-stack';
import { type Answer, CommandError, RealShell, type Shell } from '../../sandbox/shell';
import type { TemplateJson } from '../infra/example-stack';
import { credentials } from './moto-stack';

export const account = '123456789012';
export const region = 'eu-central-1';

/** What moto's CloudFormation makes of the stacks: it runs no functions, and makes nothing of what is left out here. */
const madeByMoto = /^AWS::(IAM::Role|S3::Bucket|SNS::Topic|SQS::Queue|Logs::LogGroup)$/;

/** What moto has, and its CloudFormation does not make, or makes so that moto cannot describe it. */
const madeBeside = /^AWS::(SecretsManager::Secret|KMS::Key)$/;

type Options = Parameters<Shell['run']>[1];

/**
 * Calls moto by AWS's own command line. In the place of CDK's one it hands moto what moto can make, beside what an import
 * has named; in the place of CloudWatch it publishes what an alarm would.
 */
export class MotoShell implements Shell {
  readonly #real: RealShell;
  /** Physical ids of what lies outside of moto's stacks, by logical id: secrets, keys, and what was imported. */
  readonly #beside = new Map<string, readonly [type: string, physicalId: string]>();
  /** How often somebody may wait for what is there already: a queue gives ten messages at once. */
  waits = 0;

  constructor(
    folder: string,
    private readonly url: string,
  ) {
    this.#real = new RealShell(folder, () => undefined);
  }

  write(name: string, content: string): string {
    return this.#real.write(name, content);
  }

  async wait(): Promise<void> {
    this.waits -= 1;
    // What moto has not done by now, it never does.
    if (this.waits < 0) throw new CommandError('nothing changes in moto by itself');
  }

  async run(...[command, options]: Parameters<Shell['run']>): Promise<Answer> {
    if (command[0] === 'npx') return this.#cdk(command, options);
    // Moto knows no protection of stacks.
    if (command.includes('update-termination-protection')) return options.example;
    const answer = await this.#aws(command.slice(1), options);
    if (command.includes('set-alarm-state')) await this.#publish(optionIn(command, '--alarm-name'));
    return command.includes('list-stack-resources') ? this.#withOthers(answer) : answer;
  }

  #aws(args: readonly string[], options: Options): Promise<Answer> {
    const environment = { AWS_ACCESS_KEY_ID: 'moto', AWS_SECRET_ACCESS_KEY: 'moto' };
    // Version 1 asks SQS elsewhere if a variable alone names the endpoint.
    return this.#real.run(['aws', ...args, '--endpoint-url', this.url], { ...options, environment });
  }

  /** What CloudWatch publishes of an alarm. Moto's runs no actions. */
  async #publish(name: string): Promise<void> {
    const target = { endpoint: this.url, region, credentials };
    const asked = new DescribeAlarmsCommand({ AlarmNames: [name] });
    const { MetricAlarms = [] } = await new CloudWatchClient(target).send(asked);
    for (const { AlarmName, StateValue, AlarmActions = [] } of MetricAlarms)
      for (const TopicArn of AlarmActions) {
        const Message = JSON.stringify({ AlarmName, NewStateValue: StateValue });
        await new SNSClient(target).send(new PublishCommand({ TopicArn, Message }));
      }
  }

  #withOthers(answer: Answer): Answer {
    const { StackResourceSummaries } = listedSchema.parse(JSON.parse(answer.out));
    const others = [...this.#beside].map(([LogicalResourceId, [ResourceType, PhysicalResourceId]]) => ({
      ...{ LogicalResourceId, ResourceType, PhysicalResourceId },
    }));
    return { ...answer, out: JSON.stringify({ StackResourceSummaries: [...StackResourceSummaries, ...others] }) };
  }

  async #cdk(command: readonly string[], options: Options): Promise<Answer> {
    const { name, template } = synthesised(command, options.environment ?? {});
    const call = (args: readonly string[]) => this.#aws([...args, '--region', region, '--output', 'json'], options);
    const [, , verb] = command;
    if (verb === 'destroy') return call(['cloudformation', 'delete-stack', '--stack-name', name]);
    if (verb === 'import') return this.#import(command, template, options);
    await this.#makeBeside(template, name, call);
    const tag = tagOf(name);
    const body = this.write('template.json', JSON.stringify(this.#madeOf(template, tag)));
    const create = ['cloudformation', 'create-stack', '--stack-name', name, '--template-body', `file://${body}`];
    const created = await call([...create, '--tags', `Key=${sandboxTag},Value=${tag}`]);
    await this.#complete(template, name, call);
    return created;
  }

  /** Moto imports nothing: what is named stays as it is, and the next template goes without it. */
  #import(command: readonly string[], { Resources }: TemplateJson, { example }: Options): Answer {
    const mapping: unknown = JSON.parse(readFileSync(optionIn(command, '--resource-mapping'), 'utf8'));
    this.#beside.clear();
    for (const [id, named] of Object.entries(mappingSchema.parse(mapping))) {
      const resource = Resources[id];
      if (resource === undefined) throw new CommandError(`the template has no ${id}`);
      this.#beside.set(id, [resource.Type, Object.values(named)[0] ?? '']);
    }
    return example;
  }

  async #makeBeside(template: TemplateJson, name: string, call: (args: readonly string[]) => Promise<Answer>) {
    const tag = tagOf(name);
    for (const [id, { Type }] of Object.entries(template.Resources)) {
      if (!madeBeside.test(Type) || this.#beside.has(id)) continue;
      const isKey = Type === 'AWS::KMS::Key';
      const made = isKey
        ? ['kms', 'create-key', '--tags', `TagKey=${sandboxTag},TagValue=${tag}`]
        : ['secretsmanager', 'create-secret', '--name', `${name}-${id}`, '--tags', `Key=${sandboxTag},Value=${tag}`];
      const answer = madeSchema.parse(JSON.parse((await call(made)).out));
      this.#beside.set(id, [Type, answer.KeyMetadata?.KeyId ?? answer.ARN ?? '']);
    }
  }

  /** Gives each key of a stack the policy that its template has for it, and makes its alarms, which moto's CloudFormation does not. */
  async #complete(template: TemplateJson, name: string, call: (args: readonly string[]) => Promise<Answer>) {
    const listed = await call(['cloudformation', 'list-stack-resources', '--stack-name', name]);
    const { StackResourceSummaries } = listedSchema.parse(JSON.parse(listed.out));
    const ids = StackResourceSummaries.map((one) => [one.LogicalResourceId, one.PhysicalResourceId] as const);
    const beside = [...this.#beside].map(([id, [, physicalId]]) => [id, physicalId] as const);
    const location = { stackName: name, accountId: account, region };
    const stack = new StackTemplate(template, location, new Map([...ids, ...beside]));
    for (const key of stack.resourcesOf('AWS::KMS::Key')) {
      const { KeyPolicy } = key.read(z.looseObject({ KeyPolicy: z.looseObject({}) }));
      const policy = ['--policy-name', 'default', '--policy', JSON.stringify(KeyPolicy)];
      await call(['kms', 'put-key-policy', '--key-id', key.identity.arn, ...policy]);
    }
    const cloudWatch = new CloudWatchClient({ endpoint: this.url, region, credentials });
    for (const alarm of stack.resourcesOf('AWS::CloudWatch::Alarm')) {
      const watched = {
        Namespace: 'of the template',
        MetricName: alarm.logicalId,
        Statistic: 'Sum',
        Period: 60,
      } as const;
      const raised = { EvaluationPeriods: 1, Threshold: 1, ComparisonOperator: 'GreaterThanThreshold' } as const;
      await cloudWatch.send(new PutMetricAlarmCommand({ ...alarm.read(alarmSchema), ...watched, ...raised }));
    }
  }

  /** A template of what moto makes. It hands no tags on from stacks to resources, as CloudFormation does. */
  #madeOf({ Resources, Outputs }: TemplateJson, tag: string): object {
    const kept = Object.entries(Resources).filter(([id, { Type }]) => madeByMoto.test(Type) && !this.#beside.has(id));
    const names = kept.map(([id]) => id);
    const Tags = [{ Key: sandboxTag, Value: tag }];
    const tagged = kept.map(([id, resource]) => {
      return [id, { ...resource, Properties: { ...resource.Properties, Tags } }];
    });
    const text = JSON.stringify({ Resources: Object.fromEntries(tagged), Outputs }, (member, value: unknown) => {
      if (member === 'DependsOn') return [value].flat().filter((id) => names.includes(String(id)));
      if (typeof value !== 'object' || value === null) return value;
      const { Ref: ref, 'Fn::GetAtt': attribute } = value as Record<string, unknown>;
      const id = Array.isArray(attribute) ? String(attribute[0]) : ref;
      if (typeof id !== 'string' || names.includes(id) || id.startsWith('AWS::')) return value;
      if (id.includes('Url')) return 'https://demo.example.org/';
      return this.#nameOf(id, ref === undefined) ?? `arn:aws:nothing:::${id}`;
    });
    // moto deletes what RetainExceptOnCreate keeps.
    return JSON.parse(text.replaceAll('"RetainExceptOnCreate"', '"Retain"'));
  }

  #nameOf(id: string, isArn: boolean): string | undefined {
    const [type, physicalId = ''] = this.#beside.get(id) ?? [];
    if (type === 'AWS::S3::Bucket') return isArn ? `arn:aws:s3:::${physicalId}` : physicalId;
    if (type === 'AWS::KMS::Key') return isArn ? `arn:aws:kms:${region}:${account}:key/${physicalId}` : physicalId;
    return type && physicalId;
  }
}

function synthesised(
  command: readonly string[],
  { SANDBOX_NAME = '', SANDBOX_KEY = '' }: Readonly<Record<string, string>>,
): { readonly name: string; readonly template: TemplateJson } {
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

const tagOf = (name: string) => name.replace('-service', '');
const optionIn = (command: readonly string[], option: string) => command[command.indexOf(option) + 1] ?? '';

const alarmSchema = z.object({ AlarmName: z.string(), AlarmActions: z.array(z.string()) });
const mappingSchema = z.record(z.string(), z.record(z.string(), z.string()));
const madeSchema = z.looseObject({
  ARN: z.optional(z.string()),
  KeyMetadata: z.optional(z.looseObject({ KeyId: z.string() })),
});
const listedSchema = z.looseObject({
  StackResourceSummaries: z.array(
    z.looseObject({ LogicalResourceId: z.string(), ResourceType: z.string(), PhysicalResourceId: z.string() }),
  ),
});
