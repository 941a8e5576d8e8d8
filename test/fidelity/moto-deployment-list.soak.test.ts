import { buffer } from 'node:stream/consumers';
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
} from '@aws-sdk/client-cloudformation';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { configurationKey } from '../../archive/format/keys';
import { S3ArchiveReader } from '../../archive/read/s3-archive-reader';
import { PastLists } from '../../lambda/collect/run/past-lists';
import { matchesWildcard } from '../../local/aws/iam/condition-operators';
import { ArchiveFixture, hour, plainAnswer } from '../cli/archive-fixture';
import { templateOf, toldAtSynth } from '../infra/example-stack';
import { findCommand, type MotoServer, startMoto } from '../local/aws/moto-server';
import { assumeRole, type Credentials } from './assume-role';
import { credentials, resourcesFor, setChecks } from './moto-stack';

const region = 'eu-central-1';
const StackName = 'cluster-log-collector';
const inRegion = { CreateBucketConfiguration: { LocationConstraint: region } } as const;
const clusters = { from: 's3://inventory/fleet/clusters.json' };
const command = findCommand('moto_server');

(command === undefined ? describe.skip : describe)(
  'the role of the function in moto, with a list of clusters from outside (skipped where moto_server is not in the PATH)',
  () => {
    let moto: MotoServer;
    let owner: S3Client;
    let ofRole: S3Client;
    let roleArn: string;
    let archive: string;
    const clientOf = (own: Credentials) =>
      new S3Client({ endpoint: moto.url, region, forcePathStyle: true, maxAttempts: 1, credentials: own });

    beforeAll(async () => {
      moto = await startMoto(command ?? '');
      owner = clientOf(credentials);
      const cloudFormation = new CloudFormationClient({ endpoint: moto.url, region, credentials });
      const template = templateOf({ clusters });
      const TemplateBody = JSON.stringify({ Resources: resourcesFor(template) });
      await cloudFormation.send(new CreateStackCommand({ StackName, TemplateBody }));
      const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
      expect(Stacks?.[0]?.StackStatus).toBe('CREATE_COMPLETE');
      const { StackResources = [] } = await cloudFormation.send(new DescribeStackResourcesCommand({ StackName }));
      const idOf = (start: string) =>
        StackResources.find(({ LogicalResourceId: id = '' }) => id.startsWith(start))?.PhysicalResourceId ?? '';
      roleArn = `arn:aws:iam::123456789012:role/${idOf('CollectorRole')}`;
      archive = idOf('ArchiveBucket');
      ofRole = clientOf(await assumeRole(moto.url, credentials, roleArn));
    });
    afterAll(() => moto.stop());
    afterEach(() => setChecks(moto, 'inf'));

    const read = (Bucket: string, Key: string) =>
      ofRole.send(new GetObjectCommand({ Bucket, Key })).then(
        () => 'read',
        ({ name }: Error) => name,
      );

    it("may read the one key and no other, in another account's bucket whose policy has the statement that synth prints", async () => {
      const [told = ''] = toldAtSynth({ clusters }, /reads the list of clusters from/);
      const [, printed = ''] = /has to allow: (\{.*\})$/m.exec(told) ?? [];
      const statement = JSON.parse(printed.replaceAll('ACCOUNT', '123456789012'));
      // Moto ignores conditions. The role that CloudFormation named is the one that this one admits.
      expect(matchesWildcard(statement.Condition.ArnLike['aws:PrincipalArn'], roleArn)).toBe(true);
      const theirs = clientOf(await assumeRole(moto.url, credentials, 'arn:aws:iam::999999999999:role/owner'));
      const Bucket = 'inventory';
      await theirs.send(new CreateBucketCommand({ Bucket, ...inRegion }));
      const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
      await theirs.send(new PutBucketPolicyCommand({ Bucket, Policy }));
      for (const Key of ['fleet/clusters.json', 'fleet/other.json', 'fleet/clusters.json.old'])
        await theirs.send(new PutObjectCommand({ Bucket, Key, Body: '[]' }));
      await setChecks(moto, '0');
      expect(await read(Bucket, 'fleet/clusters.json')).toBe('read');
      for (const other of ['fleet/other.json', 'fleet/clusters.json.old', 'fleet/absent.json'])
        expect(await read(Bucket, other)).toBe('AccessDenied');
    });

    it('takes the record before one whose configuration is absent, and says so', async () => {
      const fixture = await ArchiveFixture.create();
      const attempt = (at: number, uids: readonly string[]) =>
        fixture.attempt({ run: hour(at), clusters: uids, answer: plainAnswer });
      await attempt(1, ['a', 'b']);
      const { configuration } = await attempt(2, ['a', 'b', 'c']);
      for await (const { key: Key } of fixture.store.list('')) {
        const object = await fixture.store.get(Key);
        if (object === undefined || !/^(runs|configurations)\//.test(Key)) continue;
        const { contentType: ContentType, contentEncoding: ContentEncoding } = object.metadata;
        const Body = await buffer(object.open());
        await owner.send(new PutObjectCommand({ Bucket: archive, Key, Body, ContentType, ContentEncoding }));
      }
      /** As the role, judged by moto where it can: it computes other signatures of what has a "=" in its name. */
      class JudgedReader extends S3ArchiveReader {
        override async open(key: string) {
          if (!key.startsWith('configurations/')) return super.open(key);
          await setChecks(moto, '0');
          return super.open(key).finally(() => setChecks(moto, 'inf'));
        }
      }
      const past = () => new PastLists(new JudgedReader(archive, ofRole)).newest(hour(3));
      const before = await past();
      expect([before.list?.clusters.map(({ uid }) => uid), before.skipped]).toEqual([['a', 'b', 'c'], []]);
      await owner.send(new DeleteObjectCommand({ Bucket: archive, Key: configurationKey(configuration ?? '') }));
      const { list, skipped } = await past();
      expect(list?.clusters.map(({ uid }) => uid)).toEqual(['a', 'b']);
      expect(skipped).toEqual([
        expect.stringContaining(`its configuration ${configurationKey(configuration ?? '')}: `),
      ]);
    });
  },
);
