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
  readonly #kind = new Set<string>();

  /** A member of the object itself, other than `metadata`, `spec` and `status`. */
  addOther(name: string, type: JsonType): void {
    this.#top.add(name, type);
    if ((name === 'apiVersion' || name === 'kind') && type === 'string') this.#kind.add(name);
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
    const sign = this.#top.sign ?? this.#signInStatus ?? (this.#hasKind ? 'apiVersion and kind' : undefined);
    return sign && `it has ${sign}, and none of ${ownMembers.join(', ')}`;
  }

  /** Why it is not certain that the object is a record. */
  get doubt(): string | undefined {
    if (this.#own.size === 0) return `it has none of ${ownMembers.join(', ')}`;
    if (this.#top.error !== undefined) return `it has ${this.#top.error} beside metadata, spec and status`;
    if (this.#own.has('spec.clusterUid') || this.#own.has('spec.log')) return undefined;
    // Other APIs have a status.state too.
    const sign = this.#signInStatus ?? (this.#hasKind ? 'apiVersion and kind' : undefined);
    return sign && `it has ${sign}, and neither spec.clusterUid nor spec.log`;
  }

  get #signInStatus(): string | undefined {
    return this.#status.sign && `status.${this.#status.sign}`;
  }

  get #hasKind(): boolean {
    return this.#kind.size === 2;
  }
}
