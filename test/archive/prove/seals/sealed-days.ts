import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { objectKey, runRecordKey } from '../../../../archive/format/keys';
import type { Resource } from '../../../../archive/format/resources';
import type { RunRecord } from '../../../../archive/format/run-record';
import { ArchiveFixture, type AttemptFixture, logRecord } from '../../../cli/archive-fixture';
import { runVerify, type Verified } from '../../../cli/run-verify';
import { SealFixture } from '../../../cli/seal-fixture';

export const on = (day: number, hour: number) => new Date(Date.UTC(2026, 10, day, hour));
/** The schedule was due at both runs of each day, and never else. */
export const schedule = { expression: 'cron(0 8,9 * * ? *)', timeZone: 'Etc/UTC', enabled: true };

const clusters = ['alpha', 'beta'];
const answerOf =
  (text: string): AttemptFixture['answer'] =>
  (cluster, resource) => ({ content: resource === 'log' ? logRecord(cluster, text) : `kind: ${text} # ${cluster}\n` });

export const recordKey = (day: number, hour: number, attempt = 1) => runRecordKey({ run: on(day, hour), attempt });
export const objectOf = (day: number, hour: number, resource: Resource = 'log', cluster = 'alpha') =>
  objectKey({ resource, cluster, run: on(day, hour) });
/** What is found of the run records of days whose seals do not count. */
export const unsealedOf = (...days: readonly number[]) =>
  days.flatMap((day) => [8, 9].map((hour) => `unsealed ${recordKey(day, hour)}`));

/** An archive of two clusters, with runs at 8 and at 9 o'clock, and its seals. */
export class SealedDays {
  private constructor(
    readonly archive: ArchiveFixture,
    readonly seals: SealFixture,
  ) {}

  static async create(): Promise<SealedDays> {
    const archive = await ArchiveFixture.create();
    return new SealedDays(archive, new SealFixture(archive));
  }

  async copy(): Promise<SealedDays> {
    const archive = await this.archive.copy();
    return new SealedDays(archive, this.seals.in(archive));
  }

  attempt(day: number, hour: number, text = 'text', more: Partial<AttemptFixture> = {}): Promise<RunRecord> {
    const configuration = { schedule };
    return this.archive.attempt({ run: on(day, hour), clusters, answer: answerOf(text), configuration, ...more });
  }

  pathOf(key: string): string {
    return join(this.archive.folder, key);
  }

  async remove(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await rm(this.pathOf(key));
  }

  async removeRun(day: number, hour: number): Promise<void> {
    await this.remove(recordKey(day, hour));
    for (const resource of ['log', 'manifest'] as const)
      for (const cluster of clusters) await this.remove(objectOf(day, hour, resource, cluster));
  }

  verify(...args: readonly string[]): Promise<Verified> {
    return runVerify(this.archive.folder, args);
  }

  /** @param now as the machine's clock has it */
  verifyAt(now: Date, ...args: readonly string[]): Promise<Verified> {
    return runVerify(this.archive.folder, args, now);
  }
}
