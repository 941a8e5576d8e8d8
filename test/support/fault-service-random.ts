import { type Resource, resourceNames } from '../../lambda/resources';
import { between, pick, seededRandom } from '../../local/demo-service/seeded-random';
import type { Answer, Script } from './fault-service';
import * as answers from './fault-service-answers';
import { errorDocument, htmlPage, logRecord, manifestText, wrongRecords } from './fault-service-bodies';

/** Faults after which asking again helps. The slow ones last until the client's own time limits end them. */
const transientFaults = {
  'reset-before-headers': () => answers.resetBeforeHeaders(),
  'closed-before-headers': () => answers.closedBeforeHeaders(),
  'reset-mid-body': (good) => answers.resetMidBody(good),
  'truncated-length': (good) => answers.truncatedLength(good),
  'truncated-chunked': (good) => answers.truncatedChunked(good),
  'request-timeout': () => answers.status(408),
  'too-many-requests': () => answers.throttled('0'),
  'server-error': () => answers.status(500),
  'bad-gateway': () => answers.status(502),
  unavailable: () => answers.throttled(undefined, 503),
  silence: () => answers.silence(),
  'slow-headers': () => answers.slowHeaders(),
  'stalled-body': (good) => answers.stalledBody(good),
} as const satisfies Record<string, (good: string, uid: string) => Answer>;

/** Faults that asking again does not cure, as far as the client can tell them from a good answer, by resource. */
const bothPermanent = ['bad-request', 'not-found', 'html-page', 'error-document', 'empty', 'no-content'] as const;
const logPermanent = ['other-cluster', 'wrong-types', 'invalid-utf8', 'repeated-member'] as const;

export type TransientFault = keyof typeof transientFaults;
export type PermanentFault = (typeof bothPermanent)[number] | (typeof logPermanent)[number];

/** What happens to the requests for one cluster x resource. */
export type FaultPlan =
  | { readonly kind: 'none' }
  /** The first requests fail, each in its own way; the next and all later ones are answered well. */
  | { readonly kind: 'transient'; readonly faults: readonly TransientFault[] }
  /** Every request gets this. */
  | { readonly kind: 'permanent'; readonly fault: PermanentFault };

export interface RandomFaultsOptions {
  readonly seed: string;
  /** Share of the clusters x resources that have a fault, 0 to 1. */
  readonly rate: number;
  /** Share of those whose fault is permanent; left out: a quarter. */
  readonly permanentShare?: number;
  /** Most requests in a row that a transient fault spoils; left out: 2. */
  readonly maxFailures?: number;
  /** Left out: all that do not wait for a time limit of the client. */
  readonly transient?: readonly [TransientFault, ...TransientFault[]];
}

export interface RandomFaults {
  /** For startFaultService; depends on seed, path and the request's number alone, not on time or order. */
  readonly script: Script;
  readonly plan: (uid: string, resource: Resource) => FaultPlan;
  /** Whether a client that makes up to so many requests gets the content. */
  readonly archivable: (uid: string, resource: Resource, requests: number) => boolean;
  /** What a good answer carries. */
  readonly content: (uid: string, resource: Resource) => string;
}

const quick = [
  'reset-before-headers',
  'closed-before-headers',
  'reset-mid-body',
  'truncated-length',
  'truncated-chunked',
  'request-timeout',
  'too-many-requests',
  'server-error',
  'bad-gateway',
  'unavailable',
] as const satisfies readonly TransientFault[];

/** A service with faults sprinkled over it, of which a test can compute what comes through. */
export function randomFaults(options: RandomFaultsOptions): RandomFaults {
  const { seed, rate, permanentShare = 0.25, maxFailures = 2, transient = quick } = options;

  const plan = (uid: string, resource: Resource): FaultPlan => {
    const random = seededRandom(`${seed}/${resource}/${uid}`);
    if (random() >= rate) return { kind: 'none' };
    if (random() < permanentShare) {
      const faults = resource === 'log' ? ([...bothPermanent, ...logPermanent] as const) : bothPermanent;
      return { kind: 'permanent', fault: pick<PermanentFault>(random, faults) };
    }
    const failures = between(random, 1, maxFailures);
    return { kind: 'transient', faults: Array.from({ length: failures }, () => pick(random, transient)) };
  };

  const script: Script = ({ uid, resource }, nth) => {
    if (uid === undefined || resource === undefined) return answers.status(404);
    const good = content(uid, resource);
    const decided = plan(uid, resource);
    if (decided.kind === 'permanent') return permanentAnswer(decided.fault, uid);
    const fault = decided.kind === 'transient' ? decided.faults[nth - 1] : undefined;
    return fault ? transientFaults[fault](good) : answers.ok(good, contentTypes[resource]);
  };

  const archivable = (uid: string, resource: Resource, requests: number) => {
    const decided = plan(uid, resource);
    return decided.kind === 'none' || (decided.kind === 'transient' && decided.faults.length < requests);
  };

  return { script, plan, archivable, content };
}

const contentTypes = {
  log: { 'Content-Type': 'application/json' },
  manifest: { 'Content-Type': 'application/yaml' },
} as const satisfies Record<Resource, answers.Headers>;

function content(uid: string, resource: Resource): string {
  return resource === 'log' ? logRecord({ uid }) : manifestText(uid);
}

function permanentAnswer(fault: PermanentFault, uid: string): Answer {
  const wrong = wrongRecords(uid);
  const table: Record<PermanentFault, () => Answer> = {
    'bad-request': () => answers.status(400),
    'not-found': () => answers.status(404),
    'html-page': () => answers.ok(htmlPage(), { 'Content-Type': 'text/html' }),
    'error-document': () => answers.ok(errorDocument()),
    empty: () => answers.ok(''),
    'no-content': () => answers.noContent(),
    'other-cluster': () => answers.ok(wrong['a record of another cluster'] ?? ''),
    'wrong-types': () => answers.ok(wrong['a log that is a number'] ?? ''),
    'invalid-utf8': () => answers.ok(wrong['invalid UTF-8'] ?? ''),
    'repeated-member': () => answers.ok(wrong['a repeated cluster uid'] ?? ''),
  };
  return table[fault]();
}

/** Every cluster x resource of these clusters. */
export function everyPair(uids: readonly string[]): { uid: string; resource: Resource }[] {
  return uids.flatMap((uid) => resourceNames.map((resource) => ({ uid, resource })));
}
