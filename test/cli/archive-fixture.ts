import { createHash } from 'node:crypto';
import { cpSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { countOutcomes, isComplete } from '../../archive/format/completeness';
import { type Configuration, isOptional } from '../../archive/format/configuration';
import { configurationKey, objectKey, parseObjectKey, runRecordKey, runsPrefix } from '../../archive/format/keys';
import type { LogText } from '../../archive/format/log-digest';
import { LogTextCheck } from '../../archive/format/log-text';
import { checksumText, jsonLinesType } from '../../archive/format/object-headers';
import { objectMetadata } from '../../archive/format/object-metadata';
import { type FirstResource, firstResources, type Resource, resources } from '../../archive/format/resources';
import type { Outcome, RunRecord } from '../../archive/format/run-record';
import type { Shard } from '../../archive/format/shard';
import type { ObjectHeaders } from '../../archive/read/folder/object-description';
import { FolderStore } from '../../local/aws/store/folder-store';
import { newFolder } from '../support/new-folder';
import { recordText } from '../support/record-text';

/** What an attempt meets for one cluster x resource: content, or why there is none. */
export type Answer =
  | {
      readonly content: string | Buffer;
      readonly fetchedAt?: Date;
      readonly state?: string;
      readonly doubt?: string;
      /** The content in the service's own gzip; left out: the collector compressed it. */
      readonly coded?: Buffer | undefined;
    }
  | { readonly failed: string; readonly httpStatus?: number | 'no answer' }
  | { readonly notAttempted: string }
  | { readonly alreadyArchived: 'with hash' | 'without hash' };

export interface AttemptFixture {
  readonly run: Date;
  readonly attempt?: number;
  readonly shard?: Shard;
  readonly startedAt?: Date;
  readonly durationMs?: number;
  readonly clusters: readonly string[];
  /** Clusters that the run is complete without. */
  readonly optional?: readonly string[];
  readonly answer: (cluster: string, resource: FirstResource) => Answer;
  readonly trigger?: RunRecord['trigger'];
  /** Members of the configuration; left out: these clusters, a schedule of every hour, nothing expires. */
  readonly configuration?: Partial<StoredConfiguration>;
}

/** What the archive keeps of a configuration, as far as its readers go by it. */
export type StoredConfiguration = Pick<Configuration, 'clusters' | 'schedule' | 'retentionDays'>;

export const hourly = { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true };

/** An hour of the day on which most tests have their runs. */
export const hour = (at: number) => new Date(Date.UTC(2026, 10, 20, at));

/** Content for any cluster. */
export const plainAnswer: AttemptFixture['answer'] = (cluster, resource) => ({
  content: resource === 'log' ? logRecord(cluster, 'some text\n'.repeat(200)) : `kind: Namespace # ${cluster}\n`,
});

/** These answers for these clusters, content for any other. */
export function answerBut(answers: Readonly<Record<string, Answer>>): AttemptFixture['answer'] {
  return (cluster, resource) => answers[cluster] ?? plainAnswer(cluster, resource);
}

export function keyOf(resource: Resource, cluster: string, run: Date): string {
  return objectKey({ resource, cluster, run });
}

const collectorVersion = '1.0.0';

/** An archive in a new folder, written as the collector writes it. */
export class ArchiveFixture {
  readonly store: FolderStore;
  readonly #archived: Map<string, Outcome>;
  /** The last configuration that was stored, so that a hundred attempts do not store it a hundred times. */
  #stored: { readonly sha256: string; readonly done: Promise<void> } | undefined;

  private constructor(
    readonly folder: string,
    archived: ReadonlyMap<string, Outcome> = new Map(),
  ) {
    this.store = new FolderStore(folder);
    this.#archived = new Map(archived);
  }

  static async create(): Promise<ArchiveFixture> {
    return new ArchiveFixture(newFolder());
  }

  /** An archive of clusters whose logs were these texts by turns, from midnight on. */
  static async ofLogs(texts: Iterable<string>, clusters: readonly string[] = ['a']): Promise<ArchiveFixture> {
    const archive = await ArchiveFixture.create();
    let at = 0;
    for (const text of texts) {
      const answer = (cluster: string) => ({ content: logRecord(cluster, text) });
      await archive.attempt({ run: hour(at), clusters, answer });
      at += 1;
    }
    return archive;
  }

  /** The same archive in another new folder, for another test. */
  async copy(): Promise<ArchiveFixture> {
    const { folder } = await ArchiveFixture.create();
    cpSync(this.folder, folder, { recursive: true });
    return new ArchiveFixture(folder, this.#archived);
  }

  /** Changes one bit of a stored object. */
  async damage(key: string): Promise<void> {
    const path = join(this.folder, key);
    const stored = await readFile(path);
    // Where gzip has the content's checksum.
    stored[stored.length - 6] = (stored.at(-6) ?? 0) ^ 1;
    await writeFile(path, stored);
  }

  /** Writes the objects and the record of one attempt. */
  async attempt(fixture: AttemptFixture): Promise<RunRecord> {
    const { run, attempt = 1, shard, clusters, answer, durationMs = 4200, trigger = 'schedule' } = fixture;
    const configured: StoredConfiguration = {
      clusters: clusters.map((uid) => ({ uid, ...(fixture.optional?.includes(uid) && { optional: true }) })),
      schedule: hourly,
      ...fixture.configuration,
    };
    const startedAt = fixture.startedAt ?? run;
    const outcomes: Outcome[] = [];
    for (const cluster of clusters) {
      // As in a configuration that names no resources.
      for (const resource of firstResources) {
        const optional = configured.clusters.some((one) => one.uid === cluster && isOptional(one, run));
        const outcome = await this.#outcomeOf(run, cluster, resource, answer(cluster, resource), startedAt);
        outcomes.push({ ...outcome, ...(optional && { optional }) });
      }
    }
    const counts = countOutcomes(outcomes);
    const record: RunRecord = {
      version: 1,
      run: run.toISOString(),
      trigger,
      attempt,
      ...(shard !== undefined && { shard }),
      startedAt: startedAt.toISOString(),
      finishedAt: new Date(startedAt.getTime() + durationMs).toISOString(),
      collectorVersion,
      functionVersion: '$LATEST',
      invocation: '00000000-0000-4000-8000-000000000000',
      configuration: await this.putConfiguration(configured),
      status: isComplete(counts) ? 'complete' : 'incomplete',
      counts,
      outcomes,
    };
    await this.putRecord(record);
    return record;
  }

  /** Writes a record as it is, over one that is there. */
  async putRecord(record: RunRecord): Promise<void> {
    const { attempt, shard } = record;
    await this.put(runRecordKey({ run: new Date(record.run), shard, attempt }), Buffer.from(recordText(record)), {});
  }

  /** Stores a configuration under its hash, which it returns. */
  async putConfiguration(configuration: StoredConfiguration): Promise<string> {
    const text = JSON.stringify(configuration);
    const sha256 = createHash('sha256').update(text).digest('hex');
    if (this.#stored?.sha256 !== sha256)
      this.#stored = { sha256, done: this.put(configurationKey(sha256), gzipSync(text), {}) };
    await this.#stored.done;
    return sha256;
  }

  /** Writes an object as it is, over one that is there, with the headers that the collector writes unless others are given. */
  async put(key: string, body: Buffer, userMetadata: Record<string, string>, headers?: ObjectHeaders): Promise<void> {
    const checksums = { crc32: checksumText(crc32(body)) };
    await this.store.put(key, body, { ...headersOf(key), userMetadata, checksums, ...headers });
  }

  async #outcomeOf(run: Date, cluster: string, resource: Resource, answer: Answer, startedAt: Date): Promise<Outcome> {
    const key = keyOf(resource, cluster, run);
    if ('failed' in answer)
      return {
        cluster,
        resource,
        outcome: 'failed',
        ...(answer.httpStatus !== 'no answer' && { httpStatus: answer.httpStatus ?? 503 }),
        requests: 5,
        durationMs: 900,
        error: answer.failed,
      };
    if ('notAttempted' in answer) return { cluster, resource, outcome: 'not-attempted', error: answer.notAttempted };
    if ('alreadyArchived' in answer) {
      if (answer.alreadyArchived === 'without hash') return { cluster, resource, outcome: 'already-archived', key };
      const { requests, durationMs, httpStatus, ...known } = this.#archived.get(key) ?? { cluster, resource };
      return { ...known, outcome: 'already-archived', key };
    }
    const content = Buffer.from(answer.content);
    const fetchedAt = answer.fetchedAt ?? new Date(startedAt.getTime() + 1500);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const body = answer.coded ?? gzipSync(content, { level: 1 });
    const facts = {
      sha256,
      mediaType: resources[resource].contentType,
      ...(resource === 'log' && { state: answer.state ?? 'Running' }),
      ...(answer.doubt !== undefined && { doubt: answer.doubt }),
      ...(resource === 'log' && { recordUid: `record-of-${cluster}`, ...checkedText(content) }),
    };
    const encodedBy = answer.coded === undefined ? 'collector' : 'service';
    const own = { cluster, resource, run, fetchedAt, length: content.length, encodedBy } as const;
    await this.put(key, body, objectMetadata({ ...own, version: collectorVersion, ...facts }));
    const outcome: Outcome = {
      cluster,
      resource,
      outcome: 'archived',
      key,
      bytes: content.length,
      receivedBytes: answer.coded?.length ?? content.length,
      storedBytes: body.length,
      httpStatus: 200,
      requests: 1,
      durationMs: 120,
      fetchedAt: fetchedAt.toISOString(),
      ...facts,
    };
    this.#archived.set(key, outcome);
    return outcome;
  }
}

function headersOf(key: string): ObjectHeaders {
  const name = parseObjectKey(key);
  const otherType = key.startsWith(runsPrefix) ? jsonLinesType : 'application/json';
  const contentType = name === undefined ? otherType : resources[name.resource].contentType;
  return { contentType, ...(key.endsWith('.gz') && { contentEncoding: 'gzip' }) };
}

/** A log record around a text, as the service sends it. */
export function logRecord(cluster: string, log: string, state = 'Running'): string {
  return JSON.stringify({
    metadata: { name: `log-${cluster}`, uid: `record-of-${cluster}` },
    spec: { clusterUid: cluster, log },
    status: { state },
  });
}

function checkedText(record: Buffer): LogText {
  const check = new LogTextCheck();
  check.write(record);
  return check.end();
}
