import type { JsonType } from '../../../archive/format/json/json-scanner';
import { doubts, type Objection } from './doubts';

/** Say that something went wrong, whatever stands beside them. */
const errorNames = /^(?:errors?|error(?:code|description|message|summary|type|uri)|exception|fault|messages?|msg)$/;

/** Say it where neither an object nor a list stands beside them: other objects have such members too. */
const reasonNames = /^(?:code|details?|reason|stacktrace)$/;

/** Say it there if they are numbers, which are HTTP statuses then. */
const statusNames = /^(?:http)?status(?:code)?$/;

/** Say it there if they are false. */
const successNames = /^(?:success|ok)$/;

/** How many names are kept: enough to recognise an error document by. */
const mostNames = 5;

/** What a member says of its object: that it is an error, or that it may be one. */
function signOf(name: string, type: JsonType): 'error' | 'reason' | undefined {
  // A member without a value says nothing: {"error":null}, {"data":null,"errors":[...]}.
  if (type === 'null') return undefined;
  const plain = name.toLowerCase().replace(/[_-]/g, '');
  if (type === 'false') return successNames.test(plain) ? 'reason' : undefined;
  if (errorNames.test(plain)) return 'error';
  return reasonNames.test(plain) || (type === 'number' && statusNames.test(plain)) ? 'reason' : undefined;
}

/**
 * The members of one object, as far as they are added. Tells error documents from other objects. The contract does not show
 * the service's errors, so this is one rule and not a list of formats: an error document has a member that says that something
 * went wrong, and beside such members neither an object nor a list. An object with a `kind` says itself what it is.
 */
export class ErrorMembers {
  readonly #names: string[] = [];
  #hasMore = false;
  #error: string | undefined;
  #sign: string | undefined;
  /** Whether an object or a list stands beside what says that something went wrong. */
  #holdsContainer = false;
  readonly #kind = new Set<string>();

  add(name: string, type: JsonType): void {
    if (this.#names.length === mostNames) this.#hasMore = true;
    else this.#names.push(JSON.stringify(name).slice(1, -1));
    const sign = signOf(name, type);
    if (sign === 'error') this.#error ??= name;
    if (sign !== undefined) this.#sign ??= name;
    else this.#holdsContainer ||= type === 'object' || type === 'array';
    if ((name === 'apiVersion' || name === 'kind') && type === 'string') this.#kind.add(name);
  }

  /** The object, as part of a sentence. */
  get description(): string {
    if (this.#names.length === 0) return 'an empty JSON object';
    return `a JSON object with members ${this.#names.join(', ')}${this.#hasMore ? ', …' : ''}`;
  }

  /** Name of a member that says that something went wrong, whatever stands beside it. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Name of a member that says so at least if the object holds nothing else. */
  get sign(): string | undefined {
    return this.#sign;
  }

  /** Whether the object has `apiVersion` and `kind`, as every Kubernetes object has. */
  get hasKind(): boolean {
    return this.#kind.size === 2;
  }

  /** Whether the object is an error document, as far as its members tell. */
  get isErrorDocument(): boolean {
    return this.#sign !== undefined && !this.#holdsContainer && !this.#kind.has('kind');
  }
}

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
export function weighEvidence(seen: ReadonlySet<string>, top: ErrorMembers, status: ErrorMembers): Objection {
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
