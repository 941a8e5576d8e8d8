import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { objectKey } from '../../archive/format/keys';
import type { Resource } from '../../archive/format/resources';
import { keepingGuide } from '../infra/guides';
import { findCommand, type MotoServer, startMoto } from '../local/aws/moto-server';
import { newFolder } from '../support/new-folder';
import { runErase } from './run-erase';

const prefixesOf = /jq -r '(.*)' \| sort -u/.exec(keepingGuide)?.[1] ?? '';

const missing = ['moto_server', 'aws', 'jq'].filter((name) => findCommand(name) === undefined);
const uid = 'a uid/with "everything" %2F';
const keyAt = (cluster: string, resource: Resource, minute: number) =>
  objectKey({ cluster, resource, run: new Date(Date.UTC(2026, 10, 20) + minute * 60_000) });

(missing.length > 0 ? describe.skip : describe)(
  `erasing a cluster in moto (skipped without ${missing.join(', ') || 'moto_server, aws or jq'})`,
  () => {
    const folder = newFolder();
    const Bucket = 'archive';
    let moto: MotoServer;
    let s3: S3Client;
    let variables: NodeJS.ProcessEnv;

    beforeAll(async () => {
      moto = await startMoto(findCommand('moto_server') ?? '');
      const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
      s3 = new S3Client({ endpoint: moto.url, region: 'us-east-1', credentials, forcePathStyle: true });
      variables = {
        AWS_ENDPOINT_URL: moto.url,
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 's',
        AWS_DEFAULT_REGION: 'us-east-1',
      };
    });
    beforeEach(async () => {
      await fetch(`${moto.url}/moto-api/reset`, { method: 'POST' });
      await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
      const VersioningConfiguration = { Status: 'Enabled' } as const;
      await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
    });
    afterAll(() => moto.stop());

    const erase = (prefix: string, ...options: string[]) => runErase(variables, Bucket, prefix, ...options);

    /** Versions and delete markers. */
    async function left(Prefix: string): Promise<number> {
      const { Versions = [], DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket, Prefix }));
      return Versions.length + DeleteMarkers.length;
    }

    const put = (Key: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }));

    it('takes every version of it, by thousands, and nothing of another one', async () => {
      const neighbours = [keyAt(`${uid}0`, 'log', 1), keyAt(uid, 'manifest', 1), 'runs/date=2026-11-20/one.jsonl'];
      await Promise.all(neighbours.map(put));
      const keys = Array.from({ length: 1100 }, (_, minute) => keyAt(uid, 'log', minute));
      for (let at = 0; at < keys.length; at += 100) await Promise.all(keys.slice(at, at + 100).map(put));
      const [first = ''] = keys;
      await put(first);
      await s3.send(new DeleteObjectCommand({ Bucket, Key: first }));

      const outcomes = join(folder, 'outcomes.json');
      writeFileSync(outcomes, JSON.stringify([{ key: first }, { key: keys[1] }, { key: null }]));
      const { stdout } = spawnSync('jq', ['-r', prefixesOf, outcomes]);
      const [prefix = '', ...others] = [...new Set(stdout.toString().trim().split('\n'))];
      expect(others).toEqual([]);
      expect(await erase(prefix)).toEqual({
        status: 0,
        err: '',
        out: ['1000 erased', '1102 erased', `0 versions left below ${prefix} in ${Bucket}`],
      });
      expect(await left(prefix)).toBe(0);
      for (const key of neighbours) expect(await left(key)).toBe(1);
      expect((await erase(prefix)).out).toEqual([`0 versions left below ${prefix} in ${Bucket}`]);
    });

    it('stops at the first that is refused, and goes on once it may', async () => {
      const key = keyAt(uid, 'log', 1);
      const { VersionId } = await put(key);
      const Retention = { Mode: 'GOVERNANCE', RetainUntilDate: new Date(Date.now() + 86_400_000) } as const;
      await s3.send(new PutObjectRetentionCommand({ Bucket, Key: key, VersionId, Retention }));
      const prefix = key.replace(/date=.*/, '');
      const refused = await erase(prefix);
      expect(refused).toMatchObject({
        status: 1,
        err: expect.stringContaining('stopped, refused: AccessDenied'),
      });
      expect(refused.out).toEqual(['0 erased']);
      expect(await left(prefix)).toBe(1);
      expect((await erase(prefix, '--bypass-governance-retention')).out.at(-1)).toMatch(/^0 versions left/);
      expect(await left(prefix)).toBe(0);
    });

    it.each([
      'logs/cluster=uid-1',
      'logs/',
      '',
      'logs/cluster=/',
      'runs/date=2026-11-20/',
      'seals/',
    ])('refuses a prefix that is not one of a cluster: "%s"', async (prefix) => {
      await put('logs/cluster=uid-1/one');
      expect(await erase(prefix)).toMatchObject({
        status: 2,
        err: expect.stringContaining('not the prefix of one cluster'),
      });
      expect(await left('logs/cluster=uid-1/')).toBe(1);
    });

    it('stops if S3 cannot be asked, and says nothing of what is left', async () => {
      variables.AWS_ENDPOINT_URL = 'http://127.0.0.1:1';
      const { status, out } = await erase('logs/cluster=uid-1/');
      expect([status, out]).toEqual([expect.any(Number), ['']]);
      expect(status).not.toBe(0);
    });
  },
);
