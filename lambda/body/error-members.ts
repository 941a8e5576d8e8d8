import type { JsonType } from './json/json-scanner';

/** Say that something went wrong, whatever stands beside them. */
const errorNames = /^(?:errors?|error(?:code|description|message|summary|type|uri)|exception|fault|messages?|msg)$/;

/** Say it if the object holds nothing else. */
const reasonNames = /^(?:code|details?|reason)$/;

/** Say it if they are numbers, which are HTTP statuses then. */
const statusNames = /^(?:http)?status(?:code)?$/;

/** Say it if they are false. */
const successNames = /^(?:success|ok)$/;

/** What a member says of its object: that it is an error, or that it may be one. */
export function signOf(name: string, type: JsonType): 'error' | 'reason' | undefined {
  // A member without a value says nothing: {"error":null}, {"data":null,"errors":[...]}.
  if (type === 'null') return undefined;
  const plain = name.toLowerCase().replace(/[_-]/g, '');
  if (type === 'false') return successNames.test(plain) ? 'reason' : undefined;
  if (errorNames.test(plain)) return 'error';
  return reasonNames.test(plain) || (type === 'number' && statusNames.test(plain)) ? 'reason' : undefined;
}

/**
 * Tells error documents from other objects. The contract does not show the service's errors, so this is one rule and no list
 * of formats: an error document has a member that says that something went wrong, and holds nothing else that could be a
 * manifest. An object or a list can be one; a text may be. An object with a `kind` says itself what it is.
 */
export class ErrorMembers {
  #error: string | undefined;
  #sign: string | undefined;
  #holdsMore = false;
  #holdsText = false;
  readonly #kind = new Set<string>();

  add(name: string, type: JsonType): void {
    const sign = signOf(name, type);
    if (sign === 'error') this.#error ??= name;
    if (sign !== undefined) this.#sign ??= name;
    else if (type === 'object' || type === 'array') this.#holdsMore = true;
    else if (type === 'string') this.#holdsText = true;
    if ((name === 'apiVersion' || name === 'kind') && type === 'string') this.#kind.add(name);
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

  /** Whether the object is an error document: certainly, or unless one of its texts is what was asked for. */
  get isErrorDocument(): 'certainly' | 'perhaps' | undefined {
    if (this.#sign === undefined || this.#holdsMore || this.#kind.has('kind')) return undefined;
    return this.#holdsText ? 'perhaps' : 'certainly';
  }
}
