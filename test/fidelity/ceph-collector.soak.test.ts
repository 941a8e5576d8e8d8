import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DeleteObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Finding } from '../../archive/format/finding';
import { objectKey, sealKey } from '../../archive/format/keys';
import type { Resource } from '../../archive/format/resources';
import type { RunSummary } from '../../archive/format/run-record';
import type { AuditResult } from '../../lambda/audit/audit';
import { rolePolicySchema } from '../../local/aws/iam/policy-document';
import type { ScheduledFunction } from '../../local/deployment/deploy-locally';
import { type StampAuthorityServer, startStampAuthority } from '../../local/stamp-authority/start-stamp-authority';
import { runCollector } from '../cli/run-collector';
import { type DeployedCollector, LocalCollector } from '../end-to-end/local-collector';
import { newFolder } from '../support/new-folder';
import { accountId, onCeph, region } from './ceph';

/** The newest full hour: the gateway's clock counts. The schedule fires next a day later. */
const run = new Date(Math.floor(Date.now() / 3600_000) * 3600_000);
const daily = `cron(0 ${run.getUTCHours()} * * ? *)`;
const keyOf = (resource: Resource, cluster: string, time: Date) => objectKey({ cluster, resource, run: time });

/** What reading takes. */
const readerPolicy = rolePolicySchema.parse({
  Statement: { Effect: 'Allow', Action: ['s3:ListBucket', 's3:ListBucketVersions', 's3:GetObject'], Resource: '*' },
});

onCeph('the stack whose archive lies in Ceph, each role with credentials of its STS', (ceph) => {
  let authority: StampAuthorityServer;
  let collector: LocalCollector;
  let deployed: DeployedCollector;
  let reader: Record<string, string>;
  const before = { ...process.env };

  beforeAll(async () => {
    authority = await startStampAuthority({ now: () => new Date() });
    const caCertificateFile = join(newFolder(), 'authority.pem');
    writeFileSync(caCertificateFile, authority.root.toString());
    const timestamps = [{ name: 'local', url: authority.url, caCertificateFile }];
    collector = await new LocalCollector({
      schedule: { expression: daily },
      audit: { schedule: daily, rereadDays: 1, timestamps },
    }).start();
    deployed = await collector.deployForAll({ s3: ceph() });
    await ceph().makeBucket(deployed.bucket, 'Enabled');
    const admitted = await ceph().admit({ arn: `arn:aws:iam::${accountId}:role/reader`, policies: [readerPolicy] });
    reader = {
      AWS_ENDPOINT_URL_S3: ceph().url,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: admitted.accessKeyId,
      AWS_SECRET_ACCESS_KEY: admitted.secretAccessKey,
      AWS_SESSION_TOKEN: admitted.sessionToken ?? '',
    };
  });
  afterAll(async () => {
    await collector.close();
    await authority.close();
  });

  /** A command of `npm run collector`, over the bucket, as the reader. */
  async function command(name: string, ...args: string[]) {
    Object.assign(process.env, reader);
    try {
      return await runCollector([name, '--archive', `s3://${deployed.bucket}`, ...args], { now: new Date() });
    } finally {
      process.env = { ...before };
    }
  }

  async function audit(): Promise<AuditResult> {
    const { attempts } = await (deployed.audit as ScheduledFunction).fireSchedule(new Date());
    if (attempts.at(-1)?.payload === undefined) throw new Error(JSON.stringify(attempts));
    return attempts.at(-1)?.payload as AuditResult;
  }

  it('archives a run, and nothing of it in the embedded S3', async () => {
    expect((await deployed.fireSchedule(run)).failure).toBeUndefined();
    const { code, out } = await command('runs', '--json');
    expect(JSON.parse(out)).toMatchObject([{ status: 'complete' }]);
    expect(code).toBe(0);
    expect(await deployed.keys()).toEqual([]);
  });

  it('seals, signs and stamps it', async () => {
    expect(await audit()).toMatchObject({ number: 1, damage: 0, found: {} });
    for (const Key of [sealKey(1), sealKey(1).replace('.jsonl', '.local.tsr')])
      await ceph().s3.send(new HeadObjectCommand({ Bucket: deployed.bucket, Key }));
  });

  it.each(['list', 'history', 'log'])('%s reads it', async (name) => {
    const { code, err, out } = await command(name, ...(name === 'list' ? [] : ['alpha']));
    expect([code, err]).toEqual([0, expect.not.stringContaining('error')]);
    expect(out).not.toBe('');
  });

  it('verify finds nothing wrong, by the public key and by the stamp', async () => {
    const keys = ['--public-key', deployed.audit?.publicKeyFile ?? ''];
    const { code, out, err } = await command('verify', ...keys);
    expect([err, code]).toEqual(['', 0]);
    expect(out).toContain('Nothing is wrong');
  });

  it('what is forged and what is deleted is named: by the audit if it is new, and by verify', async () => {
    const { bucket: Bucket } = deployed;
    const { payload } = await deployed.invoke();
    const newRun = new Date((payload as RunSummary).run);
    const forged = [run, newRun].map((time) => keyOf('manifest', 'alpha', time));
    const deleted = keyOf('log', 'beta', newRun);
    for (const Key of forged) {
      const { Metadata } = await ceph().s3.send(new HeadObjectCommand({ Bucket, Key }));
      await ceph().s3.send(new PutObjectCommand({ Bucket, Key, Metadata, Body: gzipSync('forged') }));
    }
    await ceph().s3.send(new DeleteObjectCommand({ Bucket, Key: deleted }));
    expect(await audit()).toMatchObject({ number: 2, damage: 2, found: { missing: 1, damaged: 1 } });
    const { code, out } = await command('verify', '--json', '--public-key', deployed.audit?.publicKeyFile ?? '');
    expect(code).toBe(1);
    const { findings } = JSON.parse(out) as { findings: Finding[] };
    const expected = [`missing ${deleted}`, ...forged.map((key) => `damaged ${key}`)];
    expect(findings.map(({ kind, key }) => `${kind} ${key}`).sort()).toEqual(expected.sort());
  });
});
