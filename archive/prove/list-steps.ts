import { isDeepStrictEqual } from 'node:util';
import { longestAttemptMs } from '../format/clocks';
import type { Excusable, Finding } from '../format/finding';
import { parseRunRecordKey, type RunRecordName, runPrefix, runRecordKey } from '../format/keys';
import { type LeavingRule, mayFollow } from '../format/list-in-force';
import { compareAge, newestRecords } from '../format/newest-records';
import { problems } from '../format/problems';
import type { RecordHead, StoredRecord } from '../format/run-record';
import type { ArchiveReader } from '../read/archive-reader';
import { readLines } from '../read/record-lines';
import type { RunRecordObject } from '../read/run-keys';
import { configuredClusters, type RunConfiguration, type StoredConfigurations } from '../read/stored-configurations';
import { recordNames } from './newest-list';
import { sealedRule } from './seals/seal-plans';
import type { SealedArchive } from './seals/sealed-archive';

/** A run record with its configuration. */
export interface ConfiguredRecord extends RunRecordObject {
  readonly record: StoredRecord;
  readonly configuration: RunConfiguration | undefined;
}

export interface ListStepsContext {
  readonly reader: ArchiveReader;
  readonly configurations: StoredConfigurations;
  readonly sealed: Pick<SealedArchive, 'listPlans' | 'isPart'>;
  /** Whether the archive itself notes when something was written. */
  readonly isBucket: boolean;
}

/** Records that an attempt may have followed, one after the other, while none of them was there for certain. */
const mostUnsure = 1000;

/** Clusters that a problem names. */
const mostNamed = 5;

/** What is wrong with the list of clusters of one run record. */
export interface ListFinding {
  /** With `writtenAt`, if the lifecycle may explain it. */
  readonly finding: Finding | Excusable;
  /** Whether another record of its run, which is not there, may explain it. */
  readonly excuse?: 'of its run' | undefined;
}

/**
 * Judges the lists of clusters of one run by {@link mayFollow}, which the collector obeys: whoever has its rights could name any
 * configuration. What a record followed is looked up beside the run, so that the judgement of one run is the same in every slice.
 */
export async function judgeListSteps(
  own: readonly ConfiguredRecord[],
  context: ListStepsContext,
): Promise<readonly ListFinding[]> {
  const steps = new ListSteps(own, context);
  const found: ListFinding[] = [];
  for (const one of own) for await (const finding of steps.judge(one)) found.push(finding);
  return found;
}

class ListSteps {
  readonly #context: ListStepsContext;
  /** First lines by key; undefined: it is not there, or cannot be used. */
  readonly #heads: Map<string, RecordHead | undefined>;

  constructor(own: readonly ConfiguredRecord[], context: ListStepsContext) {
    this.#context = context;
    this.#heads = new Map(own.map(({ key, record }) => [key, record]));
  }

  async *judge(one: ConfiguredRecord): AsyncGenerator<ListFinding> {
    const { configuration, record } = one;
    if (configuration === undefined) return;
    const at = this.#beganAt(one);
    const rule = this.#ruleOf(one, configuration);
    // Who is deployed may be anybody, and nobody is leaving.
    if (rule.leaveAfterDays === 0 && configuration.clusterList === undefined) return;
    const contradiction = (problem: string): ListFinding => ({
      finding: { kind: 'contradiction', key: one.key, problem },
    });
    const isLate = configuration.clusterList !== undefined && record.clusterList === undefined;
    const { follows } = record.clusterList ?? {};
    const parent = isLate
      ? (await this.#completed(one, configuration)).toSorted(compareAge).at(-1)
      : follows && parseRunRecordKey(follows.record);
    if (isLate && parent === undefined) {
      const { finding } = contradiction(problems.completesNothing);
      // Its other records may have expired.
      yield { finding: { ...finding, writtenAt: one.run }, excuse: 'of its run' };
    }
    if (follows !== undefined && parent === undefined) yield contradiction(problems.followsNoRecord);
    if (follows !== undefined && parent !== undefined) {
      const head = await this.#head(parent);
      if (head === undefined && this.#context.sealed.isPart) return;
      if (head === undefined && !(await this.#isThere(parent)))
        yield {
          finding: { kind: 'missing', key: follows.record, problem: problems.followedIsGone, writtenAt: parent.run },
        };
      if (head !== undefined && head.configuration !== follows.configuration)
        yield contradiction(problems.followsOther(follows.record));
      const missteps = await this.#missteps(follows.configuration, configuration, at, rule);
      if (missteps !== undefined) return yield* missteps.map((problem) => contradiction(problem));
    }
    if (parent !== undefined && (await this.#isCircle(one, at))) yield contradiction(problems.followsItself);
    const newest = await this.#newestSeen(one, at, isLate);
    if (newest === undefined || (parent !== undefined && compareAge(newest.name, parent) <= 0)) return;
    const missteps = await this.#missteps(newest.head.configuration, configuration, at, rule);
    yield* (missteps ?? []).map((problem) => contradiction(problem));
  }

  /** When an attempt began. What a record says of it may be made up: not before its run, and not after it was written. */
  #beganAt({ record: { startedAt, run }, writtenAt }: ConfiguredRecord): Date {
    const began = Math.max(Date.parse(startedAt), Date.parse(run));
    return new Date(Math.min(began, writtenAt.getTime()));
  }

  /** How clusters may leave: as the plans around a record say, or else its own configuration. */
  #ruleOf({ record, writtenAt }: ConfiguredRecord, { clusterList }: RunConfiguration): LeavingRule {
    const began = record.startedAt > record.run ? record.startedAt : record.run;
    // What it says of its end may be made up too, to be judged by its own configuration: it was written by then.
    const [ended, written] = [record.finishedAt > began ? record.finishedAt : began, writtenAt.toISOString()];
    const { listPlans } = this.#context.sealed;
    return sealedRule(listPlans, ended < written ? ended : written) ?? clusterList ?? { leaveAfterDays: 0 };
  }

  /** The records whose clusters a late completion may have: those of its run that are not late ones themselves. */
  async #completed(name: RunRecordName, configuration: RunConfiguration): Promise<RunRecordObject[]> {
    const completed: RunRecordObject[] = [];
    for (const other of await recordNames(this.#context.reader, runPrefix(name.run))) {
      const head = other.key === runRecordKey(name) ? undefined : await this.#head(other);
      const found = head && (await this.#context.configurations.get(head.configuration));
      const isLate = head?.clusterList === undefined && found?.clusterList !== undefined;
      if (found !== undefined && !isLate && haveSameClusters(found, configuration)) completed.push(other);
    }
    return completed;
  }

  /** @returns what is wrong; undefined: nothing */
  async #missteps(
    before: string,
    after: RunConfiguration,
    at: Date,
    rule: LeavingRule,
  ): Promise<readonly string[] | undefined> {
    const followed = await this.#context.configurations.get(before);
    if (followed === undefined || followed === after) return undefined;
    const found = mayFollow(configuredClusters(followed), configuredClusters(after), at, rule);
    const [gone, marked] = (['gone', 'marker'] as const).map((wanted) =>
      found.flatMap(({ uid, kind }) => (kind === wanted ? uid : [])),
    );
    const named = (uids: readonly string[]) =>
      `${uids.slice(0, mostNamed).join(', ')}${uids.length > mostNamed ? ', …' : ''}`;
    const said = [
      ...(gone?.length ? [problems.goneTooEarly(gone.length, named(gone))] : []),
      ...(marked?.length ? [problems.badLeaving(marked.length, named(marked))] : []),
    ];
    return said.length > 0 ? said : undefined;
  }

  /**
   * Whether what a record followed leads back to it. One record that was there for certain ends the search: it cannot have
   * followed what began later.
   */
  async #isCircle(one: ConfiguredRecord, at: Date): Promise<boolean> {
    const seen = new Set<string>();
    let name: RunRecordName | undefined = one;
    while (name !== undefined && seen.size < mostUnsure) {
      const key = runRecordKey(name);
      if (seen.has(key)) return true;
      seen.add(key);
      const head = await this.#head(name);
      if (head === undefined || (key !== one.key && isSeen(head, undefined, at))) return false;
      name = await this.#parentOf(name, head);
    }
    return name !== undefined;
  }

  async #parentOf(name: RunRecordName, head: RecordHead): Promise<RunRecordName | undefined> {
    const { clusterList } = head;
    if (clusterList !== undefined) return clusterList.follows && parseRunRecordKey(clusterList.follows.record);
    const configuration = await this.#context.configurations.get(head.configuration);
    if (configuration?.clusterList === undefined) return undefined;
    const completed = await this.#completed(name, configuration);
    // The one that was written first is the one that was there.
    return completed.toSorted((a, b) => a.writtenAt.getTime() - b.writtenAt.getTime() || compareAge(a, b))[0];
  }

  /** The newest record that an attempt has seen for certain, and that can be read with its configuration. */
  async #newestSeen(one: ConfiguredRecord, at: Date, isOfRun: boolean) {
    const { isBucket, configurations, reader } = this.#context;
    const ofRun = async () => (await recordNames(reader, runPrefix(one.run))).toSorted((a, b) => compareAge(b, a));
    const names = isOfRun ? await ofRun() : newestRecords((prefix) => recordNames(reader, prefix), at);
    for await (const name of names) {
      const writtenAt = isBucket ? name.writtenAt : undefined;
      if (name.key === one.key || !isSeen({ run: name.run.toISOString() }, writtenAt, at)) continue;
      const head = await this.#head(name);
      if (head === undefined || !isSeen(head, writtenAt, at)) continue;
      if ((await configurations.get(head.configuration)) !== undefined) return { name, head };
    }
    return undefined;
  }

  async #head(name: RunRecordName): Promise<RecordHead | undefined> {
    const key = runRecordKey(name);
    if (this.#heads.has(key)) return this.#heads.get(key);
    const lines = await readLines(this.#context.reader, { ...name, key });
    const head = 'problem' in lines ? undefined : lines;
    this.#heads.set(key, head);
    return head;
  }

  async #isThere(name: RunRecordName): Promise<boolean> {
    return (await recordNames(this.#context.reader, runRecordKey(name))).length > 0;
  }
}

/** Whether two configurations ask for the same: another deployment may be between a run and its completion. */
function haveSameClusters({ clusters: one }: RunConfiguration, { clusters: other }: RunConfiguration): boolean {
  if (one.size !== other.size) return false;
  for (const [uid, cluster] of one) if (!isDeepStrictEqual(cluster, other.get(uid))) return false;
  return true;
}

/** Whether an attempt has seen a record for certain: it was there for so long before as an attempt takes, by other clocks. */
function isSeen(
  { run, finishedAt = run }: { readonly run: string; readonly finishedAt?: string },
  writtenAt: Date | undefined,
  at: Date,
): boolean {
  const thereAt = Math.max(Date.parse(run), Date.parse(finishedAt), writtenAt?.getTime() ?? 0);
  return thereAt < at.getTime() - longestAttemptMs;
}
