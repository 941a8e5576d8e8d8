import { moreOf } from '../../format/counted';
import { type Finding, isDamage, nameOf } from '../../format/finding';
import { parseObjectKey } from '../../format/keys';
import type { Seal } from '../../format/seal';
import type { OpenFinding, SealState } from '../../format/seal-state';

/** A seal with what its state has open. */
export type SealWithOpen = Pick<Seal, 'seal' | 'plan'> & Pick<SealState, 'open'>;

/** What a seal says is damaged, by its audit and those before. */
export interface OpenDamage {
  /** What nobody has acknowledged, the newest first. */
  readonly findings: readonly OpenFinding[];
  /** How much that is, with what the seal had no room for. */
  readonly count: number;
  /** Time of the audit that found the oldest of it first; undefined: there is none. */
  readonly since: string | undefined;
  readonly acknowledged: readonly OpenFinding[];
  readonly unreadable: readonly OpenFinding[];
}

/** Divides what is open into what alarms, what is acknowledged, and what could not be read. */
export function openDamage({ open, seal, plan }: SealWithOpen): OpenDamage {
  const isAcknowledged = acknowledgedBy(plan);
  const damage = open.first.filter(({ kind }) => isDamage(kind));
  const findings = damage
    .filter((one) => !isAcknowledged(one))
    .sort((a, b) => (a.since > b.since ? -1 : a.since < b.since ? 1 : 0));
  const count = findings.length + moreOf(open);
  return {
    findings,
    count,
    since: findings.at(-1)?.since ?? (count > 0 ? seal : undefined),
    acknowledged: damage.filter((one) => isAcknowledged(one)),
    unreadable: open.first.filter(({ kind }) => kind === 'unreadable'),
  };
}

/** @returns why a finding is acknowledged; undefined: it is not */
export function acknowledgedBy({
  acknowledged = [],
  erased = [],
}: Pick<Seal['plan'], 'acknowledged' | 'erased'>): (finding: Pick<Finding, 'kind' | 'key'>) => string | undefined {
  const reasons = new Map(acknowledged.map((one) => [nameOf(one), one.why]));
  const erasedBy = (key: string) => {
    const { cluster, run } = parseObjectKey(key) ?? {};
    const time = run?.toISOString() ?? '';
    const isOf = ({ from = '', to, ...one }: (typeof erased)[number]) =>
      one.cluster === cluster && from <= time && time <= to;
    const entry = erased.find(isOf);
    return entry && `erased: ${entry.why}`;
  };
  return (finding) => reasons.get(nameOf(finding)) ?? (finding.kind === 'missing' ? erasedBy(finding.key) : undefined);
}
