import { groupReasons } from '../run/group-reasons';
import type { AuditPlan } from '../stack-contract';
import { openDamage } from '../verify/seals/open-damage';
import { type Hashed, mostNamed, type Seal, sealSchema } from '../verify/seals/seal';
import type { SealChain } from '../verify/seals/seal-chain';
import { largestStateBytes, type OpenFinding, type SealState } from '../verify/seals/seal-state';
import type { Rechecked } from './check-open';
import type { ClusterOutcomes } from './cluster-outcomes';
import { type Findings, jsonBytes } from './findings';
import type { FleetInForce } from './fleet-in-force';
import type { readNew } from './judge-new';
import { newPass, type OldJudged } from './judge-old';
import type { LogSeams } from './log-seams';
import { isMailDue } from './mail';
import type { NewRecords } from './seal-records';

/** A seal that still has to name its state, and that state. */
export interface UnsignedSeal {
  readonly seal: Omit<Seal, 'state'>;
  readonly state: SealState;
}

/** What the steps of an audit found. */
export interface Claims {
  /** What is known of the seal beforehand. */
  readonly own: Pick<Seal, 'archive' | 'seal' | 'keyArn' | 'collectorVersion'>;
  readonly members?: FleetInForce['members'];
  readonly plan: AuditPlan;
  readonly chain: SealChain;
  readonly now: Date;
  readonly findings: Findings;
  readonly records: NewRecords;
  readonly due: Seal['due'];
  /** What no run record names; undefined: there was no time to list it. */
  readonly listed: { readonly hashed: readonly Hashed[]; readonly expired: number } | undefined;
  /** What was open, and whether this audit could tell. */
  readonly checked: ReadonlyMap<OpenFinding, Rechecked>;
  readonly read: Awaited<ReturnType<typeof readNew>>;
  readonly old: OldJudged;
  readonly logs: LogSeams;
  readonly clusters: ClusterOutcomes;
  readonly stamps: Seal['stamps'];
  readonly cursor: SealState['cursor'];
}

/** Room in a state for what is not a long list, in bytes. */
const reserveBytes = 2 * 1024 * 1024;

/** Run records and objects that a seal lists. Each takes at most 1,200 bytes, and a seal is read up to 64 MiB. */
export const mostListed = 50_000;

/** Clusters that joined, and that left, that a state names. */
const mostMembers = 50;

/** Puts together what an audit signs. */
export function makeSeal(claims: Claims): UnsignedSeal {
  const { own, plan, chain, now, findings, records, listed, read, old, members } = claims;
  const { head, next } = chain;
  const required = plan.clusters.filter(({ optional }) => !optional).map(({ uid }) => uid);
  const failing = claims.clusters.failing(required);
  const failures = failing.map(({ cluster, failure }) => failure ?? { cluster, error: 'no new run covers it' });
  const lastRun = [...records.runs].at(-1);
  const configured = plan.clusters.map(({ uid }) => uid);
  const carried = { failing: failing.map(({ failure, ...one }) => one), logs: claims.logs.summary.result(configured) };
  const mostOpenBytes = largestStateBytes - reserveBytes - jsonBytes(carried);
  const { repaired, found, ...left } = findings.settle(chain, claims.checked, own.seal, mostOpenBytes);
  // What no state has room for is found again by judging everything again.
  const reading = left.openMore === 0 ? claims.cursor.reading : newPass(now, 'reading');
  const open = { ...left, openMore: reading?.isDone ? 0 : Math.max(left.openMore, chain.state.openMore) };
  const summary = {
    ...claims.clusters.summary(required),
    ...(members && {
      clusters: { joined: members.joined.slice(0, mostMembers), left: members.left.slice(0, mostMembers) },
    }),
    repaired,
    lastRun: lastRun === undefined ? null : new Date(lastRun).toISOString(),
    reasons: groupReasons(failures),
  };
  const said = { seal: own.seal, plan: sealedPlan(plan, head, own.seal), summary, ...open };
  const damage = openDamage(said);
  const unnamed = [...(listed?.hashed ?? []), ...old.hashed];
  const isAllRead = read.position.seal > next.number;
  const seal: UnsignedSeal['seal'] = {
    version: 1,
    ...own,
    previous: head === undefined ? null : { key: head.key, sha256: head.sha256 },
    ...next,
    listedFrom: now.toISOString(),
    records: records.records,
    objects: [
      ...records.objects,
      ...unnamed.slice(0, Math.max(0, mostListed - records.records.length - records.objects.length)),
    ],
    stamps: claims.stamps,
    unread: { behind: records.behind, keys: records.unread.slice(0, mostNamed) },
    plan: said.plan,
    configurations: records.configurations,
    due: claims.due,
    verified: {
      objects: read.objects + old.objects,
      old: old.objects,
      bytes: read.bytes + old.bytes,
      carriedOver: isAllRead ? 0 : Math.max(0, (head?.verified.carriedOver ?? 0) + records.archived - read.objects),
      carriedOverRecords: records.carriedOver + records.unread.length,
      expired: records.expired + (listed?.expired ?? 0),
      all: old.all,
      notReadSince: plan.rereadDays === undefined ? (old.all?.to ?? chain.seals[0]?.seal ?? own.seal) : null,
    },
    found,
    ...(members && { clusters: { joined: members.joined.length, left: members.left.length } }),
    open: { damage: damage.count, acknowledged: damage.acknowledged.length, unreadable: damage.unreadable.length },
  };
  const logs = { ...carried.logs, isMailed: isMailDue(said, head) };
  return { seal, state: { ...open, summary, ...carried, logs, cursor: { ...claims.cursor, reading } } };
}

/**
 * What a seal has of what the audit was deployed with. An erasure without an end ends with the first seal that has it.
 * @param before the seal before
 * @param seal the time of the audit
 */
export function sealedPlan(
  { erased, ...plan }: AuditPlan,
  before: Pick<Seal, 'plan'> | undefined,
  seal: string,
): Seal['plan'] {
  const endOf = ({ cluster, from, why }: NonNullable<typeof erased>[number]) =>
    before?.plan.erased?.find((one) => one.cluster === cluster && one.from === from && one.why === why)?.to ?? seal;
  const ended = erased?.map((one) => ({ ...one, to: one.to ?? endOf(one) }));
  return sealSchema.shape.plan.parse({ ...plan, ...(ended && { erased: ended }), clusters: plan.clusters.length });
}
