import { doubts, type Verdict } from './doubts';
import type { ErrorMembers } from './error-members';

/** Members that only a log-fetcher record has. Their names are enough: null is a value like any other. */
const ownMembers = ['spec.clusterUid', 'spec.log', 'status.state'];
const ownNames = ownMembers.join(', ');

/**
 * Weighs whether an object is a log-fetcher record. Other APIs have objects with `metadata`, `spec` and `status` too, and
 * the contract says neither which members are always there nor that others are not.
 *
 * | | no sign of another object | a sign of another object |
 * |---|---|---|
 * | at least one of a record's own members | good | doubt |
 * | none of them | doubt | refused |
 *
 * A sign is a member of error documents, or `apiVersion` with `kind`, by which a Kubernetes object says what it is.
 * @param seen paths of members in the three sections
 * @param top the members of the object itself
 * @param status the members of its status other than the state
 */
export function weighEvidence(seen: ReadonlySet<string>, top: ErrorMembers, status: ErrorMembers): Verdict {
  const kind = top.hasKind ? 'apiVersion and kind' : undefined;
  const another = status.sign === undefined ? kind : `status.${status.sign}`;
  if (!ownMembers.some((path) => seen.has(path))) {
    const sign = top.sign ?? another;
    return sign === undefined
      ? { doubt: doubts.noOwnMember(ownNames) }
      : { refusal: `it has ${sign}, and none of ${ownNames}` };
  }
  if (top.error !== undefined) return { doubt: doubts.errorBesideRecord(top.error) };
  // Other APIs have a status.state too.
  const isOther = another !== undefined && !seen.has('spec.clusterUid') && !seen.has('spec.log');
  return isOther ? { doubt: doubts.signOfAnother(another) } : {};
}
