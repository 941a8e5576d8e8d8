import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Aws } from '../../sandbox/aws';
import { dollarsOf, prices } from '../../sandbox/prices';
import { refuseLeftovers, removeAll } from '../../sandbox/removal';
import { help, sandbox } from '../../sandbox/sandbox';
import { SandboxError } from '../../sandbox/sandbox-account';
import { type Answer, CommandError, type Shell } from '../../sandbox/shell';
import type { Sandbox, Step } from '../../sandbox/step';
import { type Line, trySteps } from '../../sandbox/try-steps';
import { newFolder } from '../support/new-folder';
import { Program } from '../support/program';

const account = '111122223333';
const region = 'eu-central-1';
const name = 'sandbox-0a1b2c';

function accountFileWith(content: unknown): string {
  const file = join(newFolder(), 'sandbox.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Answers of commands that begin so; any other gets the example of a dry run. */
type Answers = Readonly<Record<string, (command: string) => Answer | CommandError>>;

/** A shell in which nothing is called, some commands are answered, and no time passes. */
class ScriptedShell implements Shell {
  readonly commands: string[] = [];
  waited = 0;

  constructor(private readonly answers: Answers = {}) {}

  async run(...[command, options]: Parameters<Shell['run']>): Promise<Answer> {
    const typed = command.join(' ');
    this.commands.push(typed);
    const [, answer] = Object.entries(this.answers).find(([start]) => typed.startsWith(start)) ?? [];
    const answered = answer?.(typed) ?? options.example;
    if (answered instanceof CommandError) throw answered;
    if (!(options.codes ?? [0]).includes(answered.code)) throw new CommandError(`${typed} ended with ${answered.code}`);
    return answered;
  }

  async wait(seconds: number): Promise<void> {
    this.waited += seconds;
  }

  write(name: string): string {
    return name;
  }
}

const json = (value: unknown) => (): Answer => ({ code: 0, out: JSON.stringify(value) });
const ofAccount = (Account: string) => ({
  'aws sts get-caller-identity': json({ Account, Arn: `arn:aws:iam::${Account}:user/somebody` }),
});

async function run(args: readonly string[], shell: ScriptedShell, file = accountFileWith({ account, region })) {
  const said: string[] = [];
  const reports: string[] = [];
  const code = await sandbox(args, {
    ...{ file, shell: () => shell, say: (line) => said.push(line) },
    ...{ interrupted: new AbortController().signal, commit: () => 'c0ffee', keep: (report) => reports.push(report) },
  });
  return { code, said: said.join('\n'), reports };
}

describe('npm run sandbox -- --dry-run', () => {
  it('prints every call of every step, in order, and makes none: no command of AWS is needed', async () => {
    const environment = { ...process.env, PATH: '/nowhere' };
    const program = new Program('sandbox/main.ts', ['--dry-run'], { environment });
    const [out] = await Promise.all([text(program.stdout), program.end()]);
    const steps = [...out.matchAll(/^\[\d+\/\d+\] (.*): about/gm)].map(([, step]) => step);
    expect(steps).toEqual([
      ...['service', 'deployment', 'run by hand', 'run of the schedule', 'seal', 'refused list', 'killed attempt'],
      ...['statement removed', 'alarms', 'removed, and taken over', 'audit after the take-over'],
      ...['removal', 'leftovers'],
    ]);
    const called = [...out.matchAll(/^ {2}\$ (aws \S+ \S+|npx cdk \S+|npm run --silent collector -- \S+)/gm)];
    expect([...new Set(called.map(([, call = '']) => call.split(' ').slice(0, 2).join(' ')))]).toEqual([
      'aws sts',
      ...['npx cdk', 'aws cloudformation', 'aws s3api', 'aws secretsmanager', 'aws sns', 'npm run', 'aws lambda'],
      ...['aws logs', 'aws cloudwatch', 'aws sqs', 'aws kms', 'aws resourcegroupstaggingapi'],
    ]);
    expect(out).toMatch(/13 steps, about \d+ minutes and \$0\.\d+ by the list prices/);
    // What nobody has seen is not right.
    expect(out.match(/^ {2}not seen: would be: /gm)).toHaveLength(steps.length);
    expect(out).not.toMatch(/^ {2}(right|wrong): /m);
  });
});

describe('npm run sandbox refuses', () => {
  it.each([
    ['an account that no file names', join(newFolder(), 'sandbox.json'), /sandbox\.json is missing; write into it/],
    ['a file that is not JSON', accountFileWith('{'), /it is not JSON/],
    ['a file without a region', accountFileWith({ account }), /region/],
    ['an account that is not one', accountFileWith({ account: '*', region }), /account expected twelve digits/],
    ['a second account', accountFileWith({ account, region, accounts: [] }), /accounts/],
  ])('%s, before it calls anything', async (_, file, message) => {
    const shell = new ScriptedShell();
    await expect(run([], shell, file)).rejects.toThrow(message);
    await expect(run(['--clean'], shell, file)).rejects.toBeInstanceOf(SandboxError);
    expect(shell.commands).toEqual([]);
  });

  it('credentials of another account, before it makes or removes anything', async () => {
    for (const args of [[], ['--clean']]) {
      const shell = new ScriptedShell(ofAccount('999999999999'));
      await expect(run(args, shell)).rejects.toThrow(/Using the account 999999999999 was refused/);
      expect(shell.commands).toHaveLength(1);
    }
  });

  it('an option that it does not know, with the exit code 2 and its help', async () => {
    const program = new Program('sandbox/main.ts', ['--force'], { stdout: 'ignore' });
    expect(await program.end(2)).toContain(help);
  });

  it.each([
    'prod',
    'sandbox',
    'sandbox-0a1b2c-service',
    '',
    'sandbox-0A1B2C',
    'my-sandbox-0a1b2c',
  ])('to remove what has another name: "%s"', async (other) => {
    const shell = new ScriptedShell();
    const removing = { name: other, account, region, shell, aws: new Aws(shell, region) };
    await expect(removeAll(removing)).rejects.toThrow(SandboxError);
    expect(shell.commands).toEqual([]);
  });
});

describe('a sandbox', () => {
  it('tries everything, removes everything, and keeps a report with date, region, commit and each line', async () => {
    const { code, said, reports } = await run([], new ScriptedShell());
    expect(code).toBe(0);
    const [report = ''] = reports;
    expect(report).toMatch(/^# Sandbox, \d{4}-\d\d-\d\d, eu-central-1, commit c0ffee\n/);
    expect(report.match(/^\| [^|]+ \| right \| account, eu-central-1 \| [\d.]+ \| \$0\.\d{3} \| /gm)).toHaveLength(13);
    expect(report).not.toContain(account);
    expect(said).toContain(report);
  });

  it('removes everything even if the deployment failed; what was not tried is not seen, and never right', async () => {
    const failing = new ScriptedShell({ 'npx cdk deploy -c': () => new CommandError('no stack today') });
    const { code, reports } = await run([], failing);
    expect(code).toBe(1);
    const rows = [...(reports[0] ?? '').matchAll(/^\| ([^|]+) \| (right|wrong|not seen) \| .* \| (.*) \|$/gm)];
    expect(rows.map(([, step, verdict]) => `${step}: ${verdict}`)).toEqual([
      'service: right',
      'deployment: wrong',
      ...['run by hand', 'run of the schedule', 'seal', 'refused list', 'killed attempt'].map(
        (step) => `${step}: not seen`,
      ),
      ...['statement removed', 'alarms', 'removed, and taken over', 'audit after the take-over'].map(
        (step) => `${step}: not seen`,
      ),
      'removal: right',
      'leftovers: right',
    ]);
    expect(failing.commands.at(-2)).toContain('resourcegroupstaggingapi get-resources');
  });

  it.each<[string, Answers, string]>([
    ['run by hand', { 'npm run --silent collector -- run ': () => new CommandError('incomplete') }, 'incomplete'],
    ['run of the schedule', { 'npm run --silent collector -- runs ': json([]) }, 'did not come within 15 minutes'],
    ['seal', { 'npm run --silent collector -- verify ': json([]) }, 'Waiting for a seal failed'],
    [
      'refused list',
      { 'npm run --silent collector -- runs ': json([{ run: 'TIME', status: 'complete' }]) },
      'No run says that the list was refused',
    ],
    ['killed attempt', { 'aws logs ': json({ events: [] }) }, 'Waiting for the end of an attempt that was killed'],
    [
      'statement removed',
      { 'npm run --silent collector -- doctor ': () => ({ code: 1, out: 'something else' }) },
      'doctor does not name SealsByAuditOnly',
    ],
    ['statement removed', { 'aws s3api get-bucket-policy': json({ Policy: '{"Statement":[]}' }) }, 'has no statement'],
    ['alarms', { 'aws cloudwatch describe-alarms': json({ MetricAlarms: [] }) }, 'has no alarm'],
    ['alarms', { 'aws sqs receive-message': json({}) }, 'Not heard of: sandbox-'],
    [
      'alarms',
      { 'aws sqs receive-message': json({ Messages: [{ Body: '{"Message":"a mail"}', ReceiptHandle: 'r' }] }) },
      'Not heard of: sandbox-',
    ],
    [
      'removed, and taken over',
      {
        'aws cloudformation list-stack-resources': json({
          StackResourceSummaries: ['ApiKeySecret', 'Collector', 'Audit'].map((LogicalResourceId) => ({
            ...{ LogicalResourceId, ResourceType: 'AWS::SecretsManager::Secret', PhysicalResourceId: 'one' },
          })),
        }),
      },
      'has 1 resources to take over',
    ],
    [
      'removal',
      { 'aws s3api delete-objects': json({ Errors: [{ Code: 'AccessDenied', Key: 'k' }] }) },
      'AccessDenied for k',
    ],
  ])('says that the step "%s" is wrong if what it looks for does not come', async (step, answers, found) => {
    const { code, reports } = await run([], new ScriptedShell(answers));
    const row = reports[0]?.split('\n').find((line) => line.startsWith(`| ${step} |`));
    expect(row).toContain(`| ${step} | wrong | `);
    expect(row).toContain(found);
    expect(code).toBe(1);
  });

  it.each([
    [
      'refused list',
      'npm run --silent collector -- run ',
      's3api put-object',
      ['clusters.json', 'clusters.json', 'clusters.json'],
    ],
    ['killed attempt', 'aws lambda invoke', 'update-function-configuration', ['--timeout 1 ', '--timeout 900 ']],
    [
      'statement removed',
      'npm run --silent collector -- doctor ',
      'put-bucket-policy',
      ['without.json', 'before.json'],
    ],
  ])('puts back what it changed if the step "%s" fails in the middle', async (_, failing, change, expected) => {
    const shell = new ScriptedShell({ [failing]: () => new CommandError('no') });
    await run([], shell);
    const changes = shell.commands.filter((command) => command.includes(` ${change} `));
    expect(changes).toEqual(expected.map((part) => expect.stringContaining(part)));
  });
});

describe('a sandbox of which one call is', () => {
  const said = (code: string) => `An error occurred (${code}) when calling the operation: no`;
  const kinds: [string, (command: string) => string][] = [
    ['refused', () => said('AccessDenied')],
    [
      'answered by another account',
      (command) =>
        command.includes('cloudformation')
          ? 'An error occurred (ValidationError) when calling the operation: Stack with id x does not exist'
          : said('NoSuchEntity'),
    ],
    ['answered with a status that is unknown today', () => said('TeapotException')],
  ];
  const nameOf = (command: string) =>
    /^(npm run --silent collector -- \S+|npx cdk \S+|aws \S+ \S+)/.exec(command)?.[1] ?? command;

  it.each(kinds)('%s never says that all is well, nor that the step is right which asked', async (_, errOf) => {
    const whole = new ScriptedShell();
    expect((await run([], whole)).code).toBe(0);
    const names = [...new Set(whole.commands.map(nameOf))];
    expect(names.length).toBeGreaterThan(30);
    for (const call of names) {
      // By the commands whose answer it is, each step that asked.
      const shell = new ScriptedShell({
        [call]: (command) => ({ code: call.startsWith('aws') ? 254 : 3, out: '', err: errOf(command) }),
      });
      const ended = await run([], shell).catch((error: unknown) => {
        if (error instanceof CommandError) return { code: 2, reports: [] };
        throw error;
      });
      expect({ call, isWell: ended.code === 0 }).toEqual({ call, isWell: false });
      const rows = [...(ended.reports[0] ?? '').matchAll(/^\| ([^|]+) \| (right|wrong|not seen) \|/gm)];
      expect({ call, wrong: rows.length === 0 || rows.some(([, , verdict]) => verdict === 'wrong') }).toEqual({
        call,
        wrong: true,
      });
    }
  });

  it.each(['AccessDenied', 'TeapotException'])('a stack whose state is answered with %s is not gone', async (code) => {
    const shell = new ScriptedShell({
      'aws cloudformation describe-stacks': () => ({ code: 254, out: '', err: said(code) }),
    });
    const removing = { name, account, region, shell, aws: new Aws(shell, region) };
    await expect(removeAll(removing)).rejects.toThrow(CommandError);
    expect(shell.commands).toHaveLength(1);
  });

  it('a stack that is gone needs no removal', async () => {
    const err = `An error occurred (ValidationError) when calling the DescribeStacks operation: Stack with id ${name} does not exist`;
    const shell = new ScriptedShell({ 'aws cloudformation describe-stacks': () => ({ code: 254, out: '', err }) });
    await removeAll({ name, account, region, shell, aws: new Aws(shell, region) });
    expect(shell.commands.some((command) => command.includes('delete-stack'))).toBe(false);
  });
});

describe('what is left of a sandbox', () => {
  const listing = 'aws resourcegroupstaggingapi get-resources';
  const key = `arn:aws:kms:${region}:${account}:key/one`;
  const tagged = (arns: readonly string[]) =>
    json({
      ResourceTagMappingList: arns.map((ResourceARN) => ({
        ResourceARN,
        Tags: [{ Key: 'cluster-log-collector-sandbox', Value: name }],
      })),
    });
  const look = (shell: ScriptedShell) => refuseLeftovers({ name, account, region, shell, aws: new Aws(shell, region) });

  it('is named, and fails', async () => {
    const shell = new ScriptedShell({ [listing]: tagged(['arn:aws:s3:::left', 'arn:aws:sqs:eu-central-1:1:left']) });
    await expect(look(shell)).rejects.toThrow(`2 left of ${name}: arn:aws:s3:::left, arn:aws:sqs:eu-central-1:1:left`);
  });

  it('is nothing but keys that wait for their deletion; one that can be used is left', async () => {
    const state = (KeyState: string) => ({ 'aws kms describe-key': json({ KeyMetadata: { KeyState } }) });
    const gone = new ScriptedShell({ [listing]: tagged([key]), ...state('PendingDeletion') });
    expect(await look(gone)).toContain('but 1 key that');
    const alive = new ScriptedShell({ [listing]: tagged([key]), ...state('Disabled') });
    await expect(look(alive)).rejects.toThrow(`1 left of ${name}: ${key}`);
  });

  it('is waited for, because the list may name what is gone', async () => {
    let looks = 0;
    const shell = new ScriptedShell({
      [listing]: () => {
        looks += 1;
        return tagged(looks < 3 ? ['arn:aws:s3:::late'] : [])();
      },
    });
    await look(shell);
    expect(shell.waited).toBe(20);
  });

  it('is removed by --clean, of every sandbox whose tag is found, and of nothing else', async () => {
    const others = {
      ResourceARN: 'arn:aws:s3:::prod',
      Tags: [{ Key: 'cluster-log-collector-sandbox', Value: 'prod' }],
    };
    const shell = new ScriptedShell({
      [`${listing} --tag-filters Key=cluster-log-collector-sandbox --`]: json({
        ResourceTagMappingList: [
          others,
          ...['sandbox-aaaaaa', 'sandbox-bbbbbb'].map((Value) => ({
            ResourceARN: `arn:aws:s3:::${Value}`,
            Tags: [{ Key: 'cluster-log-collector-sandbox', Value }],
          })),
        ],
      }),
    });
    const { code, said, reports } = await run(['--clean'], shell);
    expect(said).toContain('To be removed: sandbox-aaaaaa, sandbox-bbbbbb\n');
    const stacks = shell.commands.filter((command) => command.includes(' delete-stack '));
    expect(stacks.map((command) => / --stack-name (\S+)/.exec(command)?.[1])).toEqual([
      ...['sandbox-aaaaaa', 'sandbox-aaaaaa-service', 'sandbox-bbbbbb', 'sandbox-bbbbbb-service'],
    ]);
    expect(shell.commands.some((command) => /cdk (deploy|import)/.test(command))).toBe(false);
    expect([code, reports]).toEqual([0, []]);
  });
});

it('steps that nothing stands in for are not seen, and an interruption ends what is tried', async () => {
  const shell = new ScriptedShell();
  const step = (name: string): Step => ({ name, minutes: 1, usage: {}, work: async () => 'done' });
  const interruption = new AbortController();
  const interrupting: Step = {
    ...step('third'),
    work: async () => {
      interruption.abort();
      return 'done';
    },
  };
  const steps = [step('first'), step('second'), interrupting, step('fourth')];
  const one: Sandbox = { ...{ name, account, region, shell, aws: new Aws(shell, region) }, apiKey: 'k', say: () => {} };
  const placeOf = ({ name }: Step) => (name === 'second' ? undefined : 'moto');
  const lines = await trySteps(one, steps, { placeOf, isDry: false, now: () => 0, interrupted: interruption.signal });
  expect(lines.map(({ step, verdict, seenBy, found }: Line) => [step, verdict, seenBy, found])).toEqual([
    ['first', 'right', 'moto', 'done'],
    ['second', 'not seen', 'nobody', 'nothing here stands in for the account'],
    ['third', 'right', 'moto', 'done'],
    ['fourth', 'not seen', 'moto', 'it was interrupted'],
  ]);
});

describe('what a sandbox costs', () => {
  const background = readFileSync(join(__dirname, '..', '..', 'docs', 'background.md'), 'utf8');

  it('is reckoned with the prices of docs/background.md', () => {
    const per1000 = (price: number) => `$${Number((price * 1000).toPrecision(3))} / 1,000`;
    for (const price of [
      ...[per1000(prices.write), per1000(prices.read), `$${prices.lambdaGbSecond}`],
      `metrics x $${prices.metricMonth.toFixed(2)}`,
      `alarm metrics x $${prices.alarmMonth.toFixed(2)}`,
      `dashboard $${prices.dashboardMonth}`,
      `KMS key, secret | $${prices.keyMonth} + $${prices.secretMonth.toFixed(2)}`,
    ])
      expect(background).toContain(price);
  });

  it('is what it uses, and what stands by the hour', () => {
    expect(dollarsOf({ writes: 1000 }, 0)).toBeCloseTo(0.005);
    expect(dollarsOf({ lambdaSeconds: 1000 }, 0)).toBeCloseTo(0.023);
    expect(dollarsOf({}, 730 * 60)).toBeCloseTo(15 * 0.3 + 14 * 0.1 + 3 + 4 + 0.4);
  });
});
