import { type Resource, resourceNames } from '../../lambda/resources';
import { between, pick, seededRandom } from '../../local/demo-service/seeded-random';
import type { Answer, Script } from './fault-service';
import * as answers from './fault-service-answers';
import { errorDocument, htmlPage, logRecord, manifestText, wrongRecords } from './fault-service-bodies';

/** Faults after which asking again helps, without those that wait for a time limit of the client. */
const transientFaults = {
  'reset-before-headers': () => answers.resetBeforeHeaders(),
  'closed-before-headers':
    () =>
    ({ socket }) =>
      socket.destroySoon(),
  'reset-mid-body': (good) => answers.resetMidBody(good),
  'truncated-length': (good) => answers.truncatedLength(good),
  'truncated-chunked': (good) => answers.truncatedChunked(good),
  'request-timeout': () => answers.status(408),
  'too-many-requests': () => answers.throttled('0'),
  'server-error': () => answers.status(500),
  'bad-gateway': () => answers.status(502),
  unavailable: () => answers.throttled(undefined, 503),
} as const satisfies Record<string, (good: string) => Answer>;

type TransientFault = keyof typeof transientFaults;

/** Faults that asking again does not cure, as far as the client can tell them from a good answer. */
const permanentFaults: readonly [() => Answer, ...(() => Answer)[]] = [
  () => answers.status(400),
  () => answers.status(404),
  () => answers.ok(htmlPage(), { 'Content-Type': 'text/html' }),
  () => answers.ok(errorDocument()),
  () => answers.ok(''),
  () => answers.noContent(),
];

/** What happens to the requests for one cluster x resource. */
export type FaultPlan =
  | { readonly kind: 'none' }
  /** The first requests fail, each in its own way; the next and all later ones are answered well. */
  | { readonly kind: 'transient'; readonly faults: readonly TransientFault[] }
  /** Every request gets this. */
  | { readonly kind: 'permanent'; readonly answer: Answer };

/** Of those that have a fault: the share whose fault is permanent, and the most requests that a transient one spoils. */
const [permanentShare, mostFailures] = [0.25, 2];

/**
 * A service with faults sprinkled over it, of which a test can compute what comes through. It depends on seed, path and the
 * request's number alone, not on time or order.
 */
export class RandomFaults {
  /** @param rate share of the clusters x resources that have a fault, 0 to 1 */
  constructor(
    private readonly seed: string,
    private readonly rate: number,
  ) {}

  readonly script: Script = ({ uid, resource }, nth) => {
    if (uid === undefined || resource === undefined) return answers.status(404);
    const good = this.content(uid, resource);
    const plan = this.plan(uid, resource);
    if (plan.kind === 'permanent') return plan.answer;
    const fault = plan.kind === 'transient' ? plan.faults[nth - 1] : undefined;
    const type = { 'Content-Type': resource === 'log' ? 'application/json' : 'application/yaml' };
    return fault ? transientFaults[fault](good) : answers.ok(good, type);
  };

  plan(uid: string, resource: Resource): FaultPlan {
    const random = seededRandom(`${this.seed}/${resource}/${uid}`);
    if (random() >= this.rate) return { kind: 'none' };
    if (random() < permanentShare) {
      const ofLogs = wrongRecords(uid).map((record) => () => answers.ok(record));
      return {
        kind: 'permanent',
        answer: pick(random, resource === 'log' ? [...permanentFaults, ...ofLogs] : permanentFaults)(),
      };
    }
    const names = Object.keys(transientFaults) as [TransientFault, ...TransientFault[]];
    const failures = between(random, 1, mostFailures);
    return { kind: 'transient', faults: Array.from({ length: failures }, () => pick(random, names)) };
  }

  /** Whether a client that makes up to so many requests gets the content. */
  archivable(uid: string, resource: Resource, requests: number): boolean {
    const plan = this.plan(uid, resource);
    return plan.kind === 'none' || (plan.kind === 'transient' && plan.faults.length < requests);
  }

  /** What a good answer carries. */
  content(uid: string, resource: Resource): string {
    return resource === 'log' ? logRecord({ uid }) : manifestText(uid);
  }
}

/** Every cluster x resource of these clusters. */
export function everyPair(uids: readonly string[]): { uid: string; resource: Resource }[] {
  return uids.flatMap((uid) => resourceNames.map((resource) => ({ uid, resource })));
}
