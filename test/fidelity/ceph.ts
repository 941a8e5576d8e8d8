import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { CreateBucketCommand, PutBucketVersioningCommand, type S3Client } from '@aws-sdk/client-s3';
import type { OtherS3 } from '../../local/deployment/deploy-locally';
import { clientsOf } from '../local/aws/endpoint-setup';
import { findCommand } from '../local/aws/moto-server';
import { newFolder } from '../support/new-folder';
import { assumeRole, type Credentials } from './assume-role';
import { CephProcess } from './ceph-process';

/** As the local deployment names it: in Ceph a tenant stands for an account. */
export const accountId = '111122223333';
/** Ceph takes whatever region a signature has. In any other, the SDK asks for a bucket in a place that Ceph does not have. */
export const region = 'us-east-1';

/** May do everything, and assume every role. */
const admin = { accessKeyId: 'AKIAADMIN', secretAccessKey: 'admin-secret' };
const adminArn = `arn:aws:iam::${accountId}:user/admin`;

/** Ceph with its RADOS gateway: an S3 with policies and STS that nobody of this project wrote. */
export interface Ceph extends OtherS3 {
  readonly admin: Credentials;
  /** Of the administrator. One attempt a call, so that every answer is seen. */
  readonly s3: S3Client;
  /** With other credentials. */
  as(credentials: Credentials): S3Client;
  /**
   * Makes an empty bucket.
   * @param versioning whether it keeps versions, as the stack's does. Ceph 16 then does not look at If-None-Match
   */
  makeBucket(name: string, versioning?: 'Enabled'): Promise<void>;
}

/** Why Ceph does not run here; undefined: it does. */
function reasonToSkip(): string | undefined {
  const needed = ['ceph-mon', 'ceph-osd', 'monmaptool', 'ceph', 'radosgw', 'radosgw-admin', 'setpriv'];
  const missing = needed.find((name) => findCommand(name) === undefined);
  if (missing !== undefined) return `${missing} is not in the PATH`;
  const said = execFileSync('radosgw', ['--version'], { encoding: 'utf8' });
  const version = /ceph version (\d+\.\d+\.\d+)/.exec(said)?.[1] ?? said.trim();
  return version.startsWith('16.') ? undefined : `radosgw is ${version}, and what Ceph does not do is known here of 16`;
}

/** Tests that need Ceph, which is started for them; skipped, with the reason, where it does not run. */
export function onCeph(title: string, tests: (ceph: () => Ceph) => void): void {
  const reason = reasonToSkip();
  // Jest does not show the titles of a file that is skipped whole.
  if (reason !== undefined) process.stderr.write(`skipped, because ${reason}: ${title}\n`);
  (reason === undefined ? describe : describe.skip)(title, () => {
    let started: (Ceph & { stop(): Promise<void> }) | undefined;
    beforeAll(async () => {
      started = await startCeph();
    });
    afterAll(() => started?.stop());
    tests(() => started ?? notStarted());
  });
}

function notStarted(): never {
  throw new Error('Ceph is not started');
}

/** One monitor, one store in memory, one gateway: on loopback only, with everything in a folder of its own. */
async function startCeph(): Promise<Ceph & { stop(): Promise<void> }> {
  const folder = newFolder();
  const [monitorPort, gatewayPort] = [await freePort(), await freePort()];
  const [fsid, osdId] = [randomUUID(), randomUUID()];
  for (const name of ['mon', 'osd']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'ceph.conf'), configuration(folder, { fsid, monitorPort, gatewayPort }));
  const run = (command: string, ...args: string[]) => CephProcess.run(folder, command, args);
  const ceph = (command: string, ...args: string[]) => run(command, '-c', 'ceph.conf', ...args);
  const inTenant = (...args: string[]) => ceph('radosgw-admin', '--tenant', accountId, ...args);
  const daemons: CephProcess[] = [];
  const start = (command: string, ...args: string[]) => {
    const daemon = CephProcess.start(folder, command, ['-c', 'ceph.conf', ...args]);
    daemons.push(daemon);
    return daemon;
  };
  const stop = async () => {
    await Promise.all(daemons.map((daemon) => daemon.kill()));
  };
  try {
    await run('monmaptool', '--create', '--addv', 'a', `[v2:127.0.0.1:${monitorPort}]`, '--fsid', fsid, 'monmap');
    await ceph('ceph-mon', '--mkfs', '-i', 'a', '--monmap', 'monmap');
    start('ceph-mon', '-i', 'a');
    await ceph('ceph-osd', '--mkfs', '-i', '0', '--osd-uuid', osdId);
    await ceph('ceph', 'osd', 'new', osdId);
    start('ceph-osd', '-i', '0');
    await start('radosgw', '-n', 'client.admin').says(/frontend listening on /);
    const ofAdmin = ['--access-key', admin.accessKeyId, '--secret-key', admin.secretAccessKey];
    await inTenant('user', 'create', '--uid', 'admin', '--display-name', 'admin', ...ofAdmin);
  } catch (error) {
    await stop();
    throw error;
  }
  const url = `http://127.0.0.1:${gatewayPort}`;
  const as = (credentials: Credentials) => clientsOf(url, credentials, region).s3;
  const s3 = as(admin);
  return {
    url,
    admin,
    s3,
    as,
    stop,
    makeBucket: async (Bucket, Status) => {
      await s3.send(new CreateBucketCommand({ Bucket }));
      if (Status !== undefined)
        await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
    },
    admit: async (role) => {
      const named = ['--role-name', role.arn.split('/').at(-1) ?? ''];
      const trust = { Effect: 'Allow', Principal: { AWS: [adminArn] }, Action: ['sts:AssumeRole'] };
      await inTenant('role', 'create', ...named, '--assume-role-policy-doc', document([trust]));
      const statements = knownToCeph(role.policies.flatMap(({ Statement }) => Statement));
      const policy = ['--policy-name', 'policy', '--policy-doc', document(statements)];
      await inTenant('role-policy', 'put', ...named, ...policy);
      return assumeRole(url, admin, role.arn);
    },
  };
}

/** Ceph 16 does not know them, and nothing here calls them: those of S3's own replication, and of a new encryption. */
const unknownActions = [
  's3:GetObjectVersionForReplication',
  's3:ReplicateDelete',
  's3:ReplicateObject',
  's3:ReplicateTags',
  's3:UpdateObjectEncryption',
];

/** Statements about S3, as far as Ceph knows it: it refuses a document with any other action. */
export function knownToCeph<Statement extends { readonly Action: readonly string[] }>(statements: Statement[]) {
  const isKnown = (action: string) => action === '*' || (action.startsWith('s3:') && !unknownActions.includes(action));
  return statements
    .map((statement) => ({ ...statement, Action: statement.Action.filter(isKnown) }))
    .filter(({ Action }) => Action.length > 0);
}

export function document(Statement: unknown): string {
  return JSON.stringify({ Version: '2012-10-17', Statement });
}

interface Place {
  readonly fsid: string;
  readonly monitorPort: number;
  readonly gatewayPort: number;
}

function configuration(folder: string, { fsid, monitorPort, gatewayPort }: Place): string {
  return `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitorPort}]
public addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
keyring = /dev/null
# Without this the gateway waits for 300 s: its default needs keys.
ms mon client mode = crc
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
# Each pool takes several rounds of the one monitor: with its own waits they take 11 s.
paxos propose interval = 0.05
paxos min wait = 0.01
run dir = ${folder}
mon data = ${folder}/mon
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 2147483648
admin socket =
pid file =
log to file = false
mon cluster log to file = false
log to stderr = true
err to stderr = true
debug rocksdb = 0

[client.admin]
rgw data = ${folder}
rgw frontends = beast endpoint=127.0.0.1:${gatewayPort} tcp_nodelay=1
# In seconds: it ends where the others do not come up.
rgw init timeout = 60
rgw s3 auth use sts = true
rgw sts key = abcdefghijklmnop
# It says at this level that it listens.
debug rgw = 4
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error(`expected a port, got ${address}`);
  return address.port;
}
