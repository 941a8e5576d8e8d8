import { type BodyFacts, type EncodedBy, encoderNames, type Resource, resourceNames } from './resources';

/** What an object says about itself: enough to verify it years later without any other document. */
export interface ObjectFacts extends BodyFacts {
  readonly cluster: string;
  readonly resource: Resource;
  /** The run's time. */
  readonly run: Date;
  /** When the content was received: the time at which it was true. Undefined: the object does not say it. */
  readonly fetchedAt?: Date | undefined;
  /** Media type of the answer, as the service gave it. */
  readonly mediaType?: string | undefined;
  /** SHA-256 of the uncompressed content, lower-case hex. */
  readonly sha256: string;
  /** Length of the uncompressed content in bytes. */
  readonly length: number;
  /** Who has compressed the content; objects of earlier versions do not say it. */
  readonly encodedBy?: EncodedBy | undefined;
  /** Version of the collector that wrote the object. */
  readonly version: string;
}

/**
 * Longest encoded value of what the service chooses, and of a doubt, in characters. S3 takes 2 KB of names and values together; the rest
 * is bounded by itself (a uid has at most 200 bytes, 600 characters encoded). The run record has every value whole.
 */
const valueLimits = { mediaType: 160, state: 300, recordUid: 200, lastModified: 100, doubt: 200 } as const;

/** What each value says, in the order in which they are written. Names lack the prefix `x-amz-meta-`. */
const values = {
  'cluster-uid': ({ cluster }) => encodeValue(cluster),
  resource: ({ resource }) => resource,
  run: ({ run }) => run.toISOString(),
  'fetched-at': ({ fetchedAt }) => fetchedAt?.toISOString(),
  'media-type': (facts) => cut(facts, 'mediaType'),
  state: (facts) => cut(facts, 'state'),
  'record-uid': (facts) => cut(facts, 'recordUid'),
  'record-last-modified': (facts) => cut(facts, 'lastModified'),
  'log-length': ({ logLength }) => logLength?.toString(),
  'log-lines': ({ logLines }) => logLines?.toString(),
  'log-sha256': ({ logSha256 }) => logSha256,
  doubt: (facts) => cut(facts, 'doubt'),
  sha256: ({ sha256 }) => sha256,
  length: ({ length }) => length.toString(),
  'encoded-by': ({ encodedBy }) => encodedBy,
  version: ({ version }) => encodeValue(version),
} as const satisfies Readonly<Record<string, (facts: ObjectFacts) => string | undefined>>;

export type MetadataName = keyof typeof values;
const names = Object.keys(values) as MetadataName[];

/** One value as the metadata has it: percent-encoded ASCII; undefined: it has none. */
export function metadataValue(name: MetadataName, facts: ObjectFacts): string | undefined {
  return values[name](facts);
}

/** The facts as S3 user metadata: names without the `x-amz-meta-` prefix, values percent-encoded ASCII. */
export function objectMetadata(facts: ObjectFacts): Record<string, string> {
  const metadata: Record<string, string> = {};
  for (const name of names) {
    const value = metadataValue(name, facts);
    if (value !== undefined) metadata[name] = value;
  }
  return metadata;
}

function cut(facts: ObjectFacts, name: keyof typeof valueLimits): string | undefined {
  return facts[name] === undefined ? undefined : encodeValue(facts[name], valueLimits[name]);
}

/** The facts behind S3 user metadata; undefined if a required one is absent or malformed. Untrusted input. */
export function readObjectMetadata(metadata: Readonly<Record<string, string | undefined>>): ObjectFacts | undefined {
  const value = (name: string) => decodeValue(metadata[name]);
  const cluster = value('cluster-uid');
  const resource = resourceNames.find((name) => name === metadata.resource);
  const run = readTime(metadata.run);
  const fetchedAt = readTime(metadata['fetched-at']);
  const sha256 = readHash(metadata.sha256);
  const length = readCount(metadata.length);
  if (cluster === undefined || resource === undefined || sha256 === undefined || length === undefined) return undefined;
  if (encodeValue(cluster) !== metadata['cluster-uid']) return undefined;
  if (run === undefined || (fetchedAt === undefined && metadata['fetched-at'] !== undefined)) return undefined;
  return {
    cluster,
    resource,
    run,
    fetchedAt,
    sha256,
    length,
    mediaType: value('media-type'),
    state: value('state'),
    recordUid: value('record-uid'),
    lastModified: value('record-last-modified'),
    logLength: readCount(metadata['log-length']),
    logLines: readCount(metadata['log-lines']),
    logSha256: readHash(metadata['log-sha256']),
    doubt: value('doubt'),
    encodedBy: encoderNames.find((name) => name === metadata['encoded-by']),
    version: value('version') ?? '',
  };
}

/** What encoding leaves as it is. */
const unchanged = /^[A-Za-z0-9\-_.!~*'():/]*$/;

/**
 * Percent-encoded UTF-8, with `:` and `/` left readable because times and media types are made of them. Cut between
 * characters so that every value decodes; a lone surrogate becomes U+FFFD.
 */
function encodeValue(value: string, limit = Number.POSITIVE_INFINITY): string {
  // Nearly all of them; character by character, they would cost one per cent of a run.
  if (unchanged.test(value)) return value.slice(0, limit);
  let encoded = '';
  for (const character of value.slice(0, limit)) {
    const next = encodeURIComponent(character.replace(/\p{Surrogate}/u, '\u{fffd}')).replace(/%3A/g, ':');
    const readable = next === '%2F' ? '/' : next;
    if (encoded.length + readable.length > limit) break;
    encoded += readable;
  }
  return encoded;
}

function decodeValue(value: string | undefined): string | undefined {
  // Nearly all of them.
  if (value?.includes('%') !== true) return value;
  try {
    return decodeURIComponent(value);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/**
 * A time that exists, of a year with four digits, as {@link Date.toISOString} writes it; undefined for anything else, which `Date`
 * may take all the same.
 */
export function readTime(value = ''): Date | undefined {
  const time = new Date(value);
  const exists = /^(?!0000)\d{4}-/.test(value) && !Number.isNaN(time.getTime());
  return exists && time.toISOString() === value ? time : undefined;
}

function readHash(value: string | undefined): string | undefined {
  return /^[0-9a-f]{64}$/.exec(value ?? '')?.[0];
}

function readCount(value: string | undefined): number | undefined {
  return value !== undefined && /^(?:0|[1-9]\d{0,14})$/.test(value) ? Number(value) : undefined;
}
