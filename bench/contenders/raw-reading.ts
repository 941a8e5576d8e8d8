import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { runsPrefix } from '../../archive/format/keys';
import type { Job } from '../workload';
import { RawConnection, signedHead } from './raw-http';

/** The floor of reading back: the keys and hashes of the run records, raw sockets, gunzip and SHA-256. */
export async function work({ awsUrl, bucket, caFile, concurrency }: Job): Promise<void> {
  const url = new URL(awsUrl);
  const ca = readFileSync(caFile, 'utf8');
  const get = async (connection: RawConnection, path: string, query = '') => {
    const head = signedHead('GET', url.host, `/${bucket}${path}`, {}, new Date(), query);
    const { status, body } = await connection.request([head]);
    if (status !== 200) throw new Error(`GET ${path} failed: ${status}`);
    return body;
  };
  const first = new RawConnection(url, ca);
  const list = await get(first, '/', `list-type=2&prefix=${encodeURIComponent(runsPrefix)}`);
  for (const [, record] of list.toString().matchAll(/<Key>([^<]*)/g)) {
    const [, ...lines] = (await get(first, `/${record}`)).toString().trimEnd().split('\n');
    const outcomes = lines.map((line) => JSON.parse(line) as { key: string; sha256: string }).values();
    const worker = async (connection: RawConnection) => {
      for (const { key, sha256 } of outcomes) {
        const content = gunzipSync(await get(connection, `/${key.replaceAll('=', '%3D')}`));
        if (createHash('sha256').update(content).digest('hex') !== sha256) throw new Error(`${key} is another`);
      }
    };
    connections ??= Array.from({ length: concurrency }, () => new RawConnection(url, ca));
    await Promise.all(connections.map(worker));
  }
}

let connections: RawConnection[] | undefined;
