import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { objectKey, parseObjectKey } from '../../archive/format/keys';
import { firstResources, type Resource } from '../../archive/format/resources';
import { type FaultService, startFaultService } from '../support/fault-service';
import { ok } from '../support/fault-service-answers';
import { logRecord, manifestText } from '../support/fault-service-bodies';
import type { StoredObject } from '../support/stored-objects';

/** A run of small clusters and of one whose log spills to a file: what is killed, and what has to be there in the end. */
export const run = '2026-11-20T10:00:00.000Z';
export const uids = ['small-1', 'small-2', 'large'];
/** Does not compress, so that it spills to a file. */
const largeLog = Array.from({ length: 400_000 }, (_, i) =>
  createHash('md5').update(`${i}`).digest('hex').slice(0, 8),
).join('');
export const sources = new Map(
  uids.flatMap((cluster) =>
    firstResources.map((resource) => [
      objectKey({ cluster, resource, run: new Date(run) }),
      resource === 'manifest'
        ? manifestText(cluster)
        : logRecord({ uid: cluster, ...(cluster === 'large' && { log: largeLog }) }),
    ]),
  ),
);
const sourceOf = (cluster: string, resource: Resource) =>
  sources.get(objectKey({ cluster, resource, run: new Date(run) })) ?? '';

/** @param onEvent called for every request */
export function startSources(onEvent: (name: string) => void): Promise<FaultService> {
  return startFaultService(({ uid = '', resource = 'log' }) => {
    onEvent(`GET ${resource} of ${uid}`);
    const type = resource === 'log' ? 'application/json' : 'text/plain';
    return ok(sourceOf(uid, resource), { 'Content-Type': type });
  });
}

/** What is visible is whole: its content is the source's, and what it says of itself is true. @returns its keys */
export function expectOnlyWholeObjects(objects: ReadonlyMap<string, StoredObject>): string[] {
  for (const [key, { body, metadata }] of objects) {
    if (parseObjectKey(key) === undefined) continue;
    const unpacked = gunzipSync(body);
    expect(unpacked.equals(Buffer.from(sources.get(key) ?? ''))).toBe(true);
    expect(metadata.sha256).toBe(createHash('sha256').update(unpacked).digest('hex'));
  }
  return [...objects.keys()].filter(parseObjectKey);
}
