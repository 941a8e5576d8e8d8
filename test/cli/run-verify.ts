import type { Finding } from '../../archive/format/finding';
import type { Resource } from '../../archive/format/resources';
import type { RunRecord } from '../../archive/format/run-record';
import type { VerifyCounts } from '../../archive/prove/tally';
import { ArchiveFixture, hour, keyOf, plainAnswer } from './archive-fixture';
import { runCollector } from './run-collector';

export interface Verified {
  readonly code: number;
  readonly result: VerifyCounts & { readonly ok: boolean; readonly findings: readonly Finding[] };
  /** `kind key` of each finding, but for what is unvouched. */
  readonly kinds: readonly string[];
  /** Keys of what is unvouched. */
  readonly unvouched: readonly string[];
  readonly problems: readonly string[];
}

/** Long after the tests wrote their archive, so that nothing counts as just written. */
export const longAfter = new Date('2100-01-01T00:00:00Z');

/** Runs `verify --json` over an archive. */
export async function runVerify(location: string, args: readonly string[] = [], now = longAfter): Promise<Verified> {
  const { code, out, err } = await runCollector(['verify', '--archive', location, '--json', ...args], { now });
  if (out === '') throw new Error(err);
  const result = JSON.parse(out) as Verified['result'];
  return {
    code,
    result,
    kinds: result.findings.filter(({ kind }) => kind !== 'unvouched').map(({ kind, key }) => `${kind} ${key}`),
    unvouched: result.findings.filter(({ kind }) => kind === 'unvouched').map(({ key }) => key),
    problems: result.findings.map(({ problem }) => problem),
  };
}

export const twoClusters = ['alpha', 'beta'];

/** An archive of two clusters with the runs of 8 and 9 o'clock, and the record of the second. */
export async function archiveTwoRuns(): Promise<{ readonly archive: ArchiveFixture; readonly record: RunRecord }> {
  const archive = await ArchiveFixture.create();
  await archive.attempt({ run: hour(8), clusters: twoClusters, answer: plainAnswer });
  return { archive, record: await archive.attempt({ run: hour(9), clusters: twoClusters, answer: plainAnswer }) };
}

/** The key of an object in it. */
export const keyAt = (resource: Resource, cluster = 'alpha', run = hour(9)) => keyOf(resource, cluster, run);
