import * as z from 'zod';
import { Aws } from '../../sandbox/aws';
import { deploySteps } from '../../sandbox/deploy-steps';
import { guardSteps } from '../../sandbox/guard-steps';
import { refuseLeftovers, removeAll, sandboxesIn } from '../../sandbox/removal';
import { newName, refuseOtherAccount } from '../../sandbox/sandbox-account';
import type { Sandbox, Step } from '../../sandbox/step';
import { takeOverSteps } from '../../sandbox/take-over-steps';
import { type Line, trySteps } from '../../sandbox/try-steps';
import { findCommand, type MotoServer, startMoto } from '../local/aws/moto-server';
import { newFolder } from '../support/new-folder';
import { account, MotoShell, region } from './moto-shell';

/** Who stands in for the account, where moto alone does not. */
const places: Readonly<Record<string, string>> = {
  alarms:
    'moto; its CloudWatch runs no actions, so the test published in its place, past the policies of topics and keys',
  'removed, and taken over': 'moto; the test left what was kept out of the second template, in the place of an import',
};
const stepNamed = (name: string, steps: readonly Step[]) => {
  const found = steps.find((step) => step.name === name);
  if (found === undefined) throw new Error(`no step ${name}`);
  return found;
};

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
      const lines = await trySteps(sandbox, steps, {
        placeOf: (step) => places[step.name] ?? 'moto',
        ...{ isDry: false, now: () => 0, interrupted },
      });
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

    it('hears each alarm of the stack in the queue that subscribes to both topics', async () => {
      shell.waits = 10;
      const seenBy = expect.stringContaining('the test published in its place');
      const found = expect.stringMatching(/^all \d\d alarms came/);
      expect(await run([stepNamed('alarms', guardSteps)])).toEqual([
        { step: 'alarms', verdict: 'right', seenBy, found },
      ]);
      shell.waits = 0;
    }, 900_000);

    it('takes over what a deleted stack leaves: the objects lie there, and the key admits the role of the new audit alone', async () => {
      const { ArchiveBucket = '', SigningKey = '' } = await aws.outputsOf(name);
      const policySchema = z.looseObject({ Policy: z.string() });
      const admitted = async () => {
        const args = ['kms', 'get-key-policy', '--key-id', SigningKey, '--policy-name', 'default'];
        const { Policy } = await aws.ask(args, policySchema, { Policy: '' });
        return Policy.match(/arn:aws:iam::\d+:role\/[^"]*AuditRole[^"]*/g);
      };
      const body = shell.write('body', 'archived before');
      const object = ['--bucket', ArchiveBucket, '--key', 'runs/before'];
      await aws.do(['s3api', 'put-object', ...object, '--body', body]);
      const before = await admitted();
      expect(before).toHaveLength(1);
      const [takeOver] = takeOverSteps;
      const seenBy = expect.stringContaining('in the place of an import');
      expect(await run([takeOver as Step])).toEqual([
        { step: 'removed, and taken over', verdict: 'right', seenBy, found: expect.stringContaining('4 resources') },
      ]);
      expect(await aws.outputsOf(name)).toMatchObject({ ArchiveBucket, SigningKey });
      await aws.do(['s3api', 'head-object', ...object]);
      const role = await aws.idOf(name, 'AWS::IAM::Role', 'AuditRole');
      expect(await admitted()).toEqual([`arn:aws:iam::${account}:role/${role}`]);
      expect(before).not.toContain(`arn:aws:iam::${account}:role/${role}`);
      const all = await aws.ask(['s3api', 'list-buckets'], z.looseObject({ Buckets: z.array(z.looseObject({})) }), {
        Buckets: [],
      });
      // Archive, access logs, list: no second archive.
      expect(all.Buckets).toHaveLength(3);
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
