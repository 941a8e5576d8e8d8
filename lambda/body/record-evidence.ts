import { doubts } from './doubts';
import { ErrorMembers } from './error-members';
import type { JsonType } from './json/json-scanner';

/** Members that only a log-fetcher record has. Their names are enough: null is a value like any other. */
const ownMembers = ['spec.clusterUid', 'spec.log', 'status.state'];

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
 */
export class RecordEvidence {
  readonly #own = new Set<string>();
  readonly #top = new ErrorMembers();
  readonly #status = new ErrorMembers();

  /** A member of the object itself, other than `metadata`, `spec` and `status`. */
  addOther(name: string, type: JsonType): void {
    this.#top.add(name, type);
  }

  /** A member of one of the three. */
  addField(section: string, name: string, type: JsonType): void {
    const path = `${section}.${name}`;
    if (ownMembers.includes(path)) this.#own.add(path);
    else if (section === 'status') this.#status.add(name, type);
  }

  /** Why the object is no record; undefined if it may be one. */
  get refusal(): string | undefined {
    if (this.#own.size > 0) return undefined;
    const sign = this.#top.sign ?? this.#signOfAnother;
    return sign && `it has ${sign}, and none of ${ownMembers.join(', ')}`;
  }

  /** Why it is not certain that the object is a record. */
  get doubt(): string | undefined {
    if (this.#own.size === 0) return doubts.noOwnMember(ownMembers.join(', '));
    if (this.#top.error !== undefined) return doubts.errorBesideRecord(this.#top.error);
    if (this.#own.has('spec.clusterUid') || this.#own.has('spec.log')) return undefined;
    // Other APIs have a status.state too.
    const sign = this.#signOfAnother;
    return sign && doubts.signOfAnother(sign);
  }

  get #signOfAnother(): string | undefined {
    if (this.#status.sign !== undefined) return `status.${this.#status.sign}`;
    return this.#top.hasKind ? 'apiVersion and kind' : undefined;
  }
}
