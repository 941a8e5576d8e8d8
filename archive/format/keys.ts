import { readTime } from './object-metadata';
import { type Resource, resourceNames, resources } from './resources';
import type { Shard } from './shard';

/**
 * Every key of the archive, pure. Keys are UTC and sort by time; their `name=value` segments are Hive partitions, which
 * Athena, Spark and DuckDB read as columns.
 *
 *     logs/cluster=<uid>/date=2026-11-20/20261120T100000.000Z.json.gz
 *     manifests/cluster=<uid>/date=2026-11-20/20261120T100000.000Z.txt.gz
 *     runs/date=2026-11-20/20261120T100000.000Z.attempt-1.jsonl
 *     runs/date=2026-11-20/20261120T100000.000Z.shard-0-of-4.attempt-1.jsonl
 *     configurations/<sha256>.json.gz
 *     seals/00000042.jsonl
 *     seals/states/<sha256>.json
 */
export const runsPrefix = 'runs/';

/** What each run had to collect. These objects never expire: without them nobody knows what was due. */
export const configurationsPrefix = 'configurations/';

/** Seals of run records, which the audit writes. */
export const sealsPrefix = 'seals/';

/** What each audit leaves for the next one, named by its hash, which the seal has. */
export const sealStatesPrefix = `${sealsPrefix}states/`;

export interface ObjectName {
  readonly resource: Resource;
  readonly cluster: string;
  /** The run's time. */
  readonly run: Date;
}

export interface RunRecordName {
  readonly run: Date;
  readonly shard?: Shard | undefined;
  /** Counts from 1. */
  readonly attempt: number;
}

/** Key of one archived resource of one cluster in one run. */
export function objectKey({ resource, cluster, run }: ObjectName): string {
  return `${clusterPrefix(resource, cluster)}date=${dateOf(run)}/${stampOf(run)}.${resources[resource].extension}.gz`;
}

/** Prefix of everything archived of one resource of one cluster. */
export function clusterPrefix(resource: Resource, cluster: string): string {
  return `${resources[resource].folder}/cluster=${encodeSegment(cluster)}/`;
}

/** The cluster of a {@link clusterPrefix}; undefined for a prefix that is not exactly one. */
export function parseClusterPrefix(prefix: string): string | undefined {
  const segment = /^[a-z]+\/cluster=([^/]+)\/$/.exec(prefix)?.[1];
  return segment === undefined ? undefined : decodeSegment(segment);
}

/** Key of the record of one attempt. */
export function runRecordKey({ run, shard, attempt }: RunRecordName): string {
  const part = shard === undefined ? '' : `shard-${shard.index}-of-${shard.count}.`;
  return `${runPrefix(run)}${part}attempt-${attempt}.jsonl`;
}

/** Prefix of the records of all attempts, and all shards, of one run. */
export function runPrefix(run: Date): string {
  return `${runsPrefix}date=${dateOf(run)}/${stampOf(run)}.`;
}

/**
 * Key of a configuration.
 * @param sha256 of its uncompressed content, lower-case hex
 */
export function configurationKey(sha256: string): string {
  return `${configurationsPrefix}${sha256}.json.gz`;
}

/** The SHA-256 in a configuration's key; undefined for a key that is not exactly of this layout. */
export function parseConfigurationKey(key: string): string | undefined {
  const sha256 = /([0-9a-f]{64})\.json\.gz$/.exec(key)?.[1];
  return sha256 !== undefined && configurationKey(sha256) === key ? sha256 : undefined;
}

/** The name behind an object's key; undefined for a key that is not exactly of this layout. */
export function parseObjectKey(key: string): ObjectName | undefined {
  const match = /^([a-z]+)\/cluster=([^/]+)\/date=(\d{4}-\d\d-\d\d)\/([^./]+\.[^./]+)\.([a-z]+)\.gz$/.exec(key);
  if (match === null) return undefined;
  const [, folder, segment = '', date = '', stamp = '', extension] = match;
  const resource = resourceNames.find((name) => resources[name].folder === folder);
  if (resource === undefined || resources[resource].extension !== extension) return undefined;
  const cluster = decodeSegment(segment);
  const run = parseStamp(stamp);
  if (cluster === undefined || run === undefined || date.replaceAll('-', '') !== stamp.slice(0, 8)) return undefined;
  return { resource, cluster, run };
}

/** Key of a seal. @param number counts from 1 */
export function sealKey(number: number): string {
  return `${sealsPrefix}${String(number).padStart(8, '0')}.jsonl`;
}

/** The number in a seal's key; undefined for a key that is not exactly of this layout. */
export function parseSealKey(key: string): number | undefined {
  const number = Number(/\/(\d{8,12})\.jsonl$/.exec(key)?.[1] ?? 0);
  return number > 0 && sealKey(number) === key ? number : undefined;
}

/** A third party's time stamp of a seal. */
export interface SealStampName {
  /** Of the seal. */
  readonly number: number;
  /** Of the authority, as the configuration names it. */
  readonly authority: string;
}

/** Key of the stamp of a seal: what the authority answered. */
export function sealStampKey({ number, authority }: SealStampName): string {
  return sealKey(number).replace(/jsonl$/, `${authority}.tsr`);
}

/** The name behind a stamp's key; undefined for a key that is not exactly of this layout. */
export function parseSealStampKey(key: string): SealStampName | undefined {
  const [, seal = '', authority = ''] = /^(.*\/\d+)\.([a-z][a-z0-9-]*)\.tsr$/.exec(key) ?? [];
  const number = parseSealKey(`${seal}.jsonl`);
  return number === undefined ? undefined : { number, authority };
}

/** Key of the state of a seal. @param sha256 of the file, lower-case hex */
export function sealStateKey(sha256: string): string {
  return `${sealStatesPrefix}${sha256}.json`;
}

/** The SHA-256 in the key of a state; undefined for a key that is not exactly of this layout. */
export function parseSealStateKey(key: string): string | undefined {
  const sha256 = /\/([0-9a-f]{64})\.json$/.exec(key)?.[1];
  return sha256 !== undefined && sealStateKey(sha256) === key ? sha256 : undefined;
}

/** The name behind a run record's key; undefined for a key that is not exactly of this layout. */
export function parseRunRecordKey(key: string): RunRecordName | undefined {
  const match = /([^/]+Z)\.(?:shard-(\d{1,9})-of-(\d{1,9})\.)?attempt-(\d{1,9})\.jsonl$/.exec(key);
  if (match === null) return undefined;
  const [, stamp = '', index, count, attempt] = match;
  const run = parseStamp(stamp);
  if (run === undefined) return undefined;
  const shard = index === undefined ? undefined : { index: Number(index), count: Number(count) };
  const name = { run, shard, attempt: Number(attempt) };
  return runRecordKey(name) === key ? name : undefined;
}

/**
 * Percent-encoded UTF-8; only the unreserved characters of RFC 3986 stay as they are. S3 signs paths in this form.
 * @throws URIError for a lone surrogate
 */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** An object's key as the path of a URL: its slashes stay. */
export function encodeKeyPath(key: string): string {
  return percentEncode(key).replaceAll('%2F', '/');
}

/**
 * A uid as one key segment, one to one. What is not plain becomes percent-encoded UTF-8, with the dot kept plain because
 * the prefix `cluster=` keeps `.` and `..` harmless.
 * @throws URIError for a lone surrogate, which a valid configuration does not contain
 */
export function encodeSegment(uid: string): string {
  return isPlain(uid) ? uid : percentEncode(uid).replaceAll('~', '%7E');
}

/** The uid behind a key segment; undefined if the segment is not exactly what {@link encodeSegment} writes. */
function decodeSegment(segment: string): string | undefined {
  if (isPlain(segment)) return segment;
  try {
    const uid = decodeURIComponent(segment);
    return encodeSegment(uid) === segment ? uid : undefined;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Whether a uid stays as it is: that of most clusters does, and an audit decodes millions. */
function isPlain(uid: string): boolean {
  return /^[\w.-]+$/.test(uid);
}

/** A run's time as keys write it: `20261120T100000.000Z`. */
export function stampOf(run: Date): string {
  return run.toISOString().replace(/[-:]/g, '');
}

/** The time a stamp names; undefined if it is not exactly what {@link stampOf} writes. */
export function parseStamp(stamp: string): Date | undefined {
  // Of keys that follow each other, most are of the same run.
  if (stamp === latest.stamp) return new Date(latest.time);
  const time = readTime(stamp.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)/, '$1-$2-$3:$4:'));
  if (time === undefined || stampOf(time) !== stamp) return undefined;
  latest = { stamp, time: time.getTime() };
  return time;
}

/** What was parsed last. */
let latest = { stamp: '', time: Number.NaN };

/** The partition a run lies in: `2026-11-20`, UTC. */
export function dateOf(run: Date): string {
  return run.toISOString().slice(0, 10);
}
