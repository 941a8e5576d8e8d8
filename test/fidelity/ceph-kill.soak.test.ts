import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GetObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import type { OtherS3 } from '../../local/deployment/deploy-locally';
import type { Template } from '../../local/deployment/stack-template';
import { FunctionProcess } from '../end-to-end/function-process';
import { expectOnlyWholeObjects, run, sources, startSources, uids } from '../end-to-end/killed-run';
import { type DeployedCollector, LocalCollector } from '../end-to-end/local-collector';
import { everythingPolicy } from '../local/aws/endpoint-setup';
import type { FaultService } from '../support/fault-service';
import type { StoredObject } from '../support/stored-objects';
import { onCeph } from './ceph';

/** A way to a server, on which so many bytes get through and no more. */
class LimitedWay {
  /** Bytes that got through. */
  sent = 0;
  readonly #server: Server;
  #limit = Number.POSITIVE_INFINITY;
  #onReached: () => void = () => undefined;

  constructor(to: string) {
    const { hostname, port } = new URL(to);
    this.#server = createServer((client) => {
      const server = connect(Number(port), hostname);
      client.on('data', (bytes: Buffer) => {
        const through = bytes.subarray(0, Math.max(0, this.#limit - this.sent));
        this.sent += through.length;
        if (through.length > 0) server.write(through);
        if (this.sent === this.#limit) this.#onReached();
      });
      server.on('data', (bytes) => client.write(bytes));
      // Whoever is gone is gone for the other one too.
      for (const [here, there] of [
        [client, server],
        [server, client],
      ] as const)
        here.on('error', () => here.destroy()).on('close', () => there.destroy());
    });
  }

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on. Left out: no limit. */
  limit(bytes = Number.POSITIVE_INFINITY, onReached: () => void = () => undefined): void {
    this.sent = 0;
    this.#limit = bytes;
    this.#onReached = onReached;
  }

  close(): void {
    this.#server.close();
  }
}

onCeph('an archive in Ceph is whole wherever the process is killed that writes it', (ceph) => {
  let service: FaultService;
  let collector: LocalCollector;
  let way: LimitedWay;
  let s3: OtherS3;
  let archives = 0;

  beforeAll(async () => {
    service = await startSources(() => undefined);
    const limits = { concurrency: 2 };
    collector = await new LocalCollector({ clusters: uids, limits, service: { baseUrl: service.url } }).start();
    way = new LimitedWay(ceph().url);
    const admitted = new Map<string, ReturnType<OtherS3['admit']>>();
    const admit: OtherS3['admit'] = ({ arn }) => {
      const credentials = admitted.get(arn) ?? ceph().admit({ arn, policies: [everythingPolicy] });
      admitted.set(arn, credentials);
      return credentials;
    };
    s3 = { url: await way.listen(), admit };
  });
  afterAll(async () => {
    await collector.close();
    await service.close();
    way.close();
  });

  /** With an empty archive, in a bucket of its own. */
  async function deploy(): Promise<DeployedCollector> {
    await collector.closeDeployments();
    archives += 1;
    const edit = ({ Resources }: Template) => {
      const [, bucket] = Object.entries(Resources).find(([id]) => id.startsWith('ArchiveBucket')) ?? [];
      if (bucket?.Properties !== undefined) bucket.Properties.BucketName = `archive-${archives}`;
    };
    const deployed = await collector.deploy({ s3, edit });
    await ceph().makeBucket(deployed.bucket);
    return deployed;
  }

  const start = (deployed: DeployedCollector) => FunctionProcess.start(deployed, { endpointOfS3: s3.url });

  it('after so many bytes; and everything is there once and whole after the run is repeated', async () => {
    const calm = await start(await deploy());
    way.limit();
    await calm.collect(run);
    await calm.kill();
    const all = way.sent;
    const afterBytes = [1, 4000, 16_000, ...Array.from({ length: 9 }, (_, i) => Math.round((all * (i + 1)) / 10))];
    let missing = 0;
    for (const bytes of afterBytes) {
      const deployed = await deploy();
      const victim = await start(deployed);
      let killed: Promise<void> | undefined;
      way.limit(bytes, () => {
        killed ??= victim.kill();
      });
      expect(await victim.invoke({ scheduledTime: run })).toMatchObject({ error: { errorType: 'Runtime.ExitError' } });
      await killed;
      way.limit();
      missing += sources.size - expectOnlyWholeObjects(await objectsIn(ceph().s3, deployed.bucket)).length;

      const successor = await start(deployed);
      const { status, counts } = await successor.collect(run);
      expect([status, counts.archived + counts.alreadyArchived]).toEqual(['complete', 6]);
      expect(expectOnlyWholeObjects(await objectsIn(ceph().s3, deployed.bucket)).sort()).toEqual(
        [...sources.keys()].sort(),
      );
      await successor.kill();
    }
    // Of all runs that were killed some objects were not there yet.
    expect(missing).toBeGreaterThan(afterBytes.length);
  });
});

async function objectsIn(s3: S3Client, Bucket: string): Promise<Map<string, StoredObject>> {
  const objects = new Map<string, StoredObject>();
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  for (const { Key = '' } of Contents) {
    const { Body, Metadata = {} } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    objects.set(Key, { body: await buffer(Body as Readable), metadata: Metadata });
  }
  return objects;
}
