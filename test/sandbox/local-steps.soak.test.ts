import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { firingsOf } from '../../archive/format/schedule/firings';
import { FolderStore } from '../../local/aws/store/folder-store';
import type { Template } from '../../local/deployment/stack-template';
import { Aws } from '../../sandbox/aws';
import { clusters } from '../../sandbox/clusters';
import { guardSteps } from '../../sandbox/guard-steps';
import { runSteps } from '../../sandbox/run-steps';
import { type Answer, CommandError, RealShell, type Shell } from '../../sandbox/shell';
import type { Sandbox, Step } from '../../sandbox/step';
import { takeOverSteps } from '../../sandbox/take-over-steps';
import { type Line, trySteps } from '../../sandbox/try-steps';
import { type ControlPlane, stackName, startControlPlane } from '../cli/stack/control-plane';
import { accountId, region } from '../cli/stack/live-account';
import { type DeployedCollector, type LocalCollector, useLocalCollector } from '../end-to-end/local-collector';
import { policyOf } from '../end-to-end/template-policies';
import { templateOf } from '../infra/example-stack';
import { newFolder } from '../support/new-folder';

const list = 'clusters.json';
const members = {
  clusters: { from: `s3://inventory/${list}` },
  schedule: { expression: 'cron(0/10 * * * ? *)' },
  archive: { kms: true },
  alerts: { page: {}, inform: {} },
  audit: { schedule: 'cron(30 6 * * ? *)' },
};

/** Logical id of the key that signs seals, and its ARN in the local deployment. */
const signingKey = 'AuditSigningKey58F79527';
const signingKeyArn = `arn:aws:kms:${region}:${accountId}:key/end-to-end-${signingKey}`;
/** As the stack is configured that takes over the archive of the first one. */
const afterwards = { ...members, audit: { ...members.audit, signingKeyArn } };

/** The local deployment stands in for the account: it answers what the steps ask of AWS's command line. */
class LocalShell implements Shell {
  readonly #real: RealShell;
  readonly #inventory: FolderStore;
  /** The function with the short limit; undefined: it has its own. */
  #limited: DeployedCollector | undefined;
  #hasKilled = false;
  readonly running: Promise<unknown>[] = [];

  constructor(
    folder: string,
    private readonly inventory: string,
    private readonly collector: ReturnType<typeof useLocalCollector>,
    private readonly deployed: DeployedCollector,
    private readonly plane: ControlPlane,
  ) {
    this.#real = new RealShell(folder, () => undefined);
    this.#inventory = new FolderStore(inventory);
  }

  write(name: string, content: string): string {
    this.#files.set(name, content);
    return this.#real.write(name, content);
  }
  readonly #files = new Map<string, string>();

  async wait(): Promise<void> {
    // Whoever waits in an account waits for what was started, or for the schedule.
    await Promise.all(this.running);
    const now = new Date();
    const times = [
      ...firingsOf(members.schedule.expression, 'Etc/UTC').between(new Date(now.getTime() - 600_000), now),
    ];
    const last = times.at(-1)?.at;
    if (last !== undefined) await this.deployed.fireSchedule(last);
  }

  async run(...[command, options]: Parameters<Shell['run']>): Promise<Answer> {
    if (command[0] !== 'aws') {
      const { role } = (this.deployed.audit ?? this.deployed).definition;
      const environment = {
        AWS_ACCESS_KEY_ID: role.accessKeyId,
        AWS_SECRET_ACCESS_KEY: role.secretAccessKey,
        AWS_SESSION_TOKEN: role.sessionToken ?? '',
      };
      return this.#real.run(command, { ...options, environment });
    }
    const [, service, action, ...args] = command;
    const option = (name: string) => args[args.indexOf(name) + 1] ?? '';
    const answered = await this.#answer(`${service} ${action}`, option);
    return { code: 0, out: JSON.stringify(answered) };
  }

  async #answer(call: string, option: (name: string) => string): Promise<unknown> {
    const bucket = this.plane.live.buckets.ArchiveBucket49F1AC64;
    switch (call) {
      case 'cloudformation describe-stacks': {
        const outputs = option('--stack-name').endsWith('-service')
          ? { ServiceUrl: this.collector.demo.url, ListBucket: 'inventory' }
          : { ArchiveBucket: this.deployed.bucket, SigningKey: signingKeyArn };
        const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
        return { Stacks: [{ Outputs }] };
      }
      case 'cloudformation list-stack-resources':
        return {
          StackResourceSummaries: [
            ['CollectorFunction', 'AWS::Lambda::Function'],
            ['AuditFunction', 'AWS::Lambda::Function'],
            ['CollectorLogs', 'AWS::Logs::LogGroup'],
          ].map(([LogicalResourceId, ResourceType]) => ({
            ...{ LogicalResourceId, ResourceType, PhysicalResourceId: LogicalResourceId },
          })),
        };
      case 's3api put-object': {
        const body = Buffer.from(this.#files.get(list) ?? '');
        await this.#inventory.put(option('--key'), body, { contentType: 'application/json' });
        return {};
      }
      case 'lambda invoke':
        this.running.push(this.#invoke(option('--function-name')));
        return {};
      case 'lambda get-function-configuration':
        return { Timeout: 900 };
      case 'lambda update-function-configuration':
        await this.#limitTo(Number(option('--timeout')));
        return {};
      case 'logs filter-log-events':
        return { events: this.#hasKilled ? [{}] : [] };
      case 's3api get-bucket-policy':
        return { Policy: JSON.stringify(bucket?.policy) };
      case 's3api put-bucket-policy': {
        const file = option('--policy').split('/').at(-1) ?? '';
        if (bucket !== undefined) bucket.policy = JSON.parse(this.#files.get(file) ?? '');
        return {};
      }
      case 'lambda wait':
        return {};
      default:
        throw new CommandError(`nothing stands in for aws ${call}`);
    }
  }

  async #limitTo(seconds: number): Promise<void> {
    if (seconds >= 900) {
      this.#limited = undefined;
      return;
    }
    this.#limited = await this.collector.deploy({
      folder: this.deployed.folder,
      otherBuckets: [{ name: 'inventory', folder: this.inventory }],
      // Nothing is answered: the limit ends it.
      around: (_call, _execute, closing) => closing,
      edit: ({ Resources }) => {
        for (const { Type, Properties = {} } of Object.values(Resources))
          if (Type === 'AWS::Lambda::Function') Properties.Timeout = seconds;
      },
    });
  }

  async #invoke(target: string): Promise<void> {
    const event = JSON.parse(this.#files.get('event.json') ?? '');
    if (target === 'AuditFunction') {
      await this.deployed.audit?.invoke(event);
      return;
    }
    const { error } = (await this.#limited?.invoke(event)) ?? {};
    this.#hasKilled = error?.errorType === 'Sandbox.Timedout';
    await this.deployed.invokeAsync(event);
  }
}

/** Commands have the rights of the audit, and here those of somebody who may read everything. */
const letAuditRead = (template: Template): void => {
  const { Statement } = policyOf(template, 'AWS::IAM::Policy', 'AuditRole');
  Statement.push({ Effect: 'Allow', Action: '*', Resource: '*' });
};

describe('the steps of the sandbox, the local deployment in the place of the account', () => {
  const collector = useLocalCollector(members);
  const takenOver = useLocalCollector(afterwards);
  let inventory: string;
  let plane: ControlPlane;
  beforeEach(async () => {
    inventory = newFolder();
    const content = Buffer.from(JSON.stringify(clusters));
    await new FolderStore(inventory).put(list, content, { contentType: 'application/json' });
  });
  afterEach(() => plane.close());

  /** @param of what is deployed */
  async function trying(steps: readonly Step[], of: LocalCollector, deployed: DeployedCollector, place: string) {
    plane.retentionDays = 'never';
    plane.informed = plane.subscriptions;
    const shell = new LocalShell(newFolder(), inventory, of, deployed, plane);
    const aws = new Aws(shell, region);
    const sandbox: Sandbox = {
      ...{ name: stackName, account: accountId, region, shell, aws },
      apiKey: of.key,
      say: () => undefined,
    };
    const lines = await trySteps(sandbox, steps, {
      placeOf: () => place,
      isDry: false,
      now: () => performance.now(),
      interrupted: new AbortController().signal,
    });
    return lines.map(({ step, verdict, seenBy, found }: Line) => ({ step, verdict, seenBy, found }));
  }

  const right = (seenBy: string, found: unknown = expect.any(String)) => ({ verdict: 'right', seenBy, found });

  it('see a run by hand, one of the schedule, a seal, a refused list, a killed attempt and a removed statement', async () => {
    const otherBuckets = [{ name: 'inventory', folder: inventory }];
    const deployed = await collector.deploy({ otherBuckets, edit: letAuditRead });
    plane = await startControlPlane(deployed, templateOf(members));
    const place = 'the local deployment';
    const steps = [...runSteps, ...guardSteps.filter(({ name }) => name !== 'alarms')];
    const expected = [...runSteps.map(({ name }) => name), 'statement removed'];
    expect(await trying(steps, collector, deployed, place)).toEqual(
      expected.map((step) => ({ step, ...right(place) })),
    );
  }, 900_000);

  it('see that a second stack over the archive that was kept goes on with its chain of seals', async () => {
    const otherBuckets = [{ name: 'inventory', folder: inventory }];
    const first = await collector.deploy({ otherBuckets });
    await first.invoke({});
    expect(await first.audit?.invoke({})).toMatchObject({ payload: { number: 1, damage: 0 } });
    const { SIGNING_KEY_ARN = '' } = first.audit?.definition.environment ?? {};
    expect(SIGNING_KEY_ARN).toBe(signingKeyArn);
    const deployed = await takenOver.deploy({
      folder: first.folder,
      otherBuckets,
      edit: (template) => {
        letAuditRead(template);
        // The key outlives its stack, and its policy has the statement of the new audit.
        Object.assign(template.Resources, { [signingKey]: collector.template.Resources[signingKey] });
      },
    });
    plane = await startControlPlane(deployed, templateOf(afterwards));
    const { role } = deployed.audit?.definition ?? {};
    const Condition = { ArnNotEquals: { 'aws:PrincipalArn': role?.arn } };
    const statement = { Effect: 'Deny', Principal: '*', Action: 'kms:Sign', Resource: '*', Condition };
    plane.live.keys.kept = { arn: signingKeyArn, state: 'Enabled', policy: { Statement: [statement] } };
    plane.outputs = {
      SigningKey: signingKeyArn,
      SigningKeyPolicy: JSON.stringify({ Sid: 'SignedByAuditOnly', ...statement }),
    };
    const file = readFileSync(deployed.audit?.publicKeyFile ?? '');
    const PublicKey = createPublicKey(file).export({ type: 'spki', format: 'der' }).toString('base64');
    plane.instead = (call) => (call === 'kms:GetPublicKey' ? { body: JSON.stringify({ PublicKey }) } : undefined);
    const place = 'the local deployment, for the second time over one folder; nobody stood in for the import';
    const steps = takeOverSteps.filter(({ name }) => name === 'audit after the take-over');
    expect(await trying(steps, takenOver, deployed, place)).toEqual([
      { step: 'audit after the take-over', ...right(place, expect.stringContaining('seal 2 is stored and signed')) },
    ]);
  }, 900_000);
});
