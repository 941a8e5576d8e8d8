import type { JsonType } from './json/json-scanner';

/*
 * How services write errors: Google, Azure, AWS, Kubernetes, GraphQL, OAuth (RFC 6749), problem details (RFC 9457),
 * Spring, FastAPI, Express, API gateways. Names are compared without case, `_` and `-`.
 */

/** Say that something went wrong, whatever stands beside them. */
const errorNames = setOf(`
  error errors errorcode errormessage errordescription errorsummary errortype exception fault message msg
`);

/** Say it only if nothing but members of error documents stands beside them. */
const reasonNames = setOf('code detail reason');

/** Say it if they are numbers, which are HTTP statuses then. */
const statusNames = setOf('status statuscode httpstatus httpstatuscode');

/** Say it if they are false. */
const successNames = setOf('success ok');

/** Stand beside the others in error documents and say nothing themselves. */
const companionNames = setOf(`
  basetype cause causes correlationid description details documentationurl errorcauses errorid errorlink erroruri
  extensions help hostid info instance links meta messages method moreinfo path requestid resource stack stacktrace
  statustext timestamp title trace traceid type url
`);

/** Collects the members of one object, to tell whether it is an error document. */
export class ErrorMembers {
  #error: string | undefined;
  #sign: string | undefined;
  #hasOthers = false;

  add(name: string, type: JsonType): void {
    // A member without a value says nothing: {"error":null}, {"data":null,"errors":[...]}.
    if (type === 'null') return;
    const plain = name.toLowerCase().replace(/[_-]/g, '');
    const isError = errorNames.has(plain) && type !== 'false';
    const isSign =
      isError ||
      reasonNames.has(plain) ||
      (statusNames.has(plain) && type === 'number') ||
      (successNames.has(plain) && type === 'false');
    if (isError) this.#error ??= name;
    if (isSign) this.#sign ??= name;
    else if (![errorNames, statusNames, successNames, companionNames].some((names) => names.has(plain)))
      this.#hasOthers = true;
  }

  /** Name of a member that says that something went wrong, whatever stands beside it. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Name of a member that says so at least if it stands among members of error documents. */
  get sign(): string | undefined {
    return this.#sign;
  }

  /** Whether the object has members that error documents have not. */
  get hasOthers(): boolean {
    return this.#hasOthers;
  }

  /** Whether the object has nothing but members of error documents, and one that says that something went wrong. */
  get isErrorDocument(): boolean {
    return this.#sign !== undefined && !this.#hasOthers;
  }
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.trim().split(/\s+/));
}
