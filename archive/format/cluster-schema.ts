import * as z from 'zod/mini';
import type { ConfiguredCluster } from './configuration';
import { resourceNames } from './resources';
import { type ConfigProblem, mostProblems, parsing, problemsOf } from './schema-problems';

/**
 * A list of clusters as a schema: that of the configuration, and that of a list from outside, which the function reads. Every
 * message completes the sentence "expected …". Every description goes into collector.schema.json, where editors show it.
 */

const loneSurrogate = /\p{Surrogate}/u;
/** Line ends among them: a name must not write lines of its own into a mail. */
const controlCharacter = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const longestUid = 200;

export const uid = z.string('the uid of a cluster').check(
  z.minLength(1, 'a uid that is not empty'),
  z.refine((text) => text.trim() === text, 'a uid without a blank at either end'),
  z.refine((text) => text !== '.' && text !== '..', 'a uid other than "." and "..", which a path cannot hold'),
  z.refine((text) => !loneSurrogate.test(text), 'a uid without lone surrogates, which a path cannot hold'),
  z.refine((text) => !controlCharacter.test(text.trim()), 'a uid without control characters'),
  z.refine((text) => Buffer.byteLength(text) <= longestUid, `a uid of at most ${longestUid} bytes of UTF-8`),
  z.describe('Uid of the cluster, as the service knows it.'),
);

const printableAscii = 'printable ASCII without a space at either end, because it is sent in a header';

export const projectUid = z
  .string(printableAscii)
  .check(
    z.regex(/^[!-~](?:[ -~]{0,1022}[!-~])?$/, printableAscii),
    z.describe('Header ProjectUid: limits the requests to this project.'),
  );

export const requestId = z.string('a request identifier').check(
  z.regex(/^.{1,1024}$/su, '1 to 1024 characters'),
  z.refine((text) => !loneSurrogate.test(text), 'text without lone surrogates'),
  z.describe('Query parameter requestId of the log call.'),
);

const resources = z.array(z.enum(resourceNames, `one of ${resourceNames.join(', ')}`), 'a list of resources').check(
  z.minLength(1, 'at least one resource'),
  z.refine((names) => new Set(names).size === names.length, 'each resource once'),
  z.describe('Resources to collect of this cluster; left out: all. What is stored names them.'),
);

const until = z.iso
  .date('a date such as 2026-12-31')
  .check(z.describe('Last UTC date on which the cluster is optional: a run of a later time needs it again.'));

const detailed = members({
  uid,
  projectUid: z.optional(projectUid.check(z.describe("Header ProjectUid for this cluster; wins over the service's."))),
  requestId: z.optional(requestId),
  // Written out: what a later version collects by default does not change what an archive meant.
  resources: z._default(resources, [...resourceNames]),
  optional: z.optional(
    z
      .union([z.boolean('true or false'), members({ until }, '{ "until": "2026-12-31" }')])
      .check(
        z.describe(
          'true: a run is complete without this cluster. It is still attempted, recorded and shown. With until: for so long.',
        ),
      ),
  ),
});

/** A uid, or an object if the cluster differs from the others. */
const cluster = z.union([
  z.pipe(
    uid,
    z.transform((text): ConfiguredCluster => ({ uid: text, resources: [...resourceNames] })),
  ),
  detailed,
]);

const uidOf = (entry: unknown) => (typeof entry === 'object' && entry !== null && 'uid' in entry ? entry.uid : entry);

/** A list of clusters. Two entries of one uid would write the same keys. */
export const clusterList = z
  .array(cluster, 'a list of clusters')
  .check(
    z.minLength(1, 'at least one cluster'),
    unique('uid', uidOf),
    z.describe('Clusters to collect: uids, or objects for clusters that differ. 50,000 and more fit.'),
  );

/**
 * Reads such a list of anybody's, entry by entry. It stops at the problems that a message lists: what is wrong with an entry
 * takes hundreds of times the memory of the entry.
 */
export function parseClusters(
  list: readonly unknown[],
): { readonly clusters: readonly ConfiguredCluster[] } | { readonly problems: readonly ConfigProblem[] } {
  const clusters: ConfiguredCluster[] = [];
  const problems: ConfigProblem[] = [];
  const first = new Map<unknown, number>();
  for (const [index, entry] of list.entries()) {
    const { data, error } = cluster.safeParse(entry, parsing);
    const earlier = first.get(uidOf(entry));
    if (error !== undefined) problems.push(...problemsOf(error, [index]));
    else if (earlier === undefined) first.set(uidOf(entry), index);
    else problems.push({ path: `[${index}]`, received: JSON.stringify(data.uid), expected: once('uid', earlier) });
    if (problems.length > mostProblems) break;
    if (data !== undefined) clusters.push(data);
  }
  if (list.length === 0) problems.push({ path: '', received: 'a list of 0', expected: 'at least one cluster' });
  return problems.length > 0 ? { problems } : { clusters };
}

/** An object that rejects unknown members with a message that names the known ones. */
export function members<Shape extends z.core.$ZodShape>(shape: Shape, expected = objectWith(shape)) {
  return z.strictObject(shape, knownMembers(shape, expected));
}

/** `{ "baseUrl": … }`: an object with the members that it must have. */
export function objectWith(shape: z.core.$ZodShape): string {
  const needed = Object.keys(shape).filter((name) => shape[name]?._zod.optin === undefined);
  return needed.length === 0 ? 'an object' : `{ ${needed.map((name) => `"${name}": …`).join(', ')} }`;
}

/** What such an object expects. */
export function knownMembers(members: object, expected: string) {
  const known = `one of ${Object.keys(members).join(', ')}`;
  return { error: ({ code }: { readonly code?: string }) => (code === 'unrecognized_keys' ? known : expected) };
}

function once(what: string, earlier: number): string {
  return `each ${what} once (it is at [${earlier}] already)`;
}

/**
 * Every entry of a list once. It runs even if single entries are wrong, so that all problems are reported at once.
 * @param what the part of an entry that tells it from others
 * @param partOf that part of an entry; anything but text if it has none
 */
export function unique(what: string, partOf: (entry: unknown) => unknown) {
  const judge = (list: unknown, context: z.core.$RefinementCtx) => {
    if (!Array.isArray(list)) return;
    const first = new Map<string, number>();
    for (const [index, entry] of list.entries()) {
      const part = partOf(entry);
      if (typeof part !== 'string') continue;
      const earlier = first.get(part);
      const message = once(what, earlier ?? 0);
      if (earlier === undefined) first.set(part, index);
      else context.addIssue({ code: 'custom', path: [index], input: part, message });
    }
  };
  return z.superRefine<unknown>(judge, { when: () => true });
}
