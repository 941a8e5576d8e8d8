import { firstResources, type Resource } from '../../lambda/resources';
import { between, pick, seededRandom } from '../../local/demo-service/seeded-random';
import type { Answer, Script } from './fault-service';
import * as answers from './fault-service-answers';
import { errorDocument, htmlPage, logRecord, manifestText } from './fault-service-bodies';

/** What a request gets instead of its good answer. */
type Fault = (good: string) => Answer;

export const tooManyRequests: Fault = () => answers.throttled('0');

/** Faults after which asking again helps, without those that wait for a time limit of the client. */
const transientFaults: readonly [Fault, ...Fault[]] = [
  () => answers.resetBeforeHeaders(),
  () =>
    ({ socket }) =>
      socket.destroySoon(),
  (good) => answers.resetMidBody(good),
  (good) => answers.truncatedLength(good),
  (good) => answers.truncatedChunked(good),
  () => answers.status(408),
  tooManyRequests,
  () => answers.status(500),
  () => answers.status(502),
  () => answers.throttled(undefined, 503),
];

/** Faults that asking again does not cure, as far as the client can tell them from a good answer. */
const permanentFaults: readonly [Fault, ...Fault[]] = [
  () => answers.status(400),
  () => answers.status(404),
  () => answers.ok(htmlPage(), { 'Content-Type': 'text/html' }),
  () => answers.ok(errorDocument()),
  () => answers.ok(''),
  () => answers.reply(204),
];

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

  readonly script: Script = ({ uid, resource, nth }) => {
    if (uid === undefined || resource === undefined) return answers.status(404);
    const good = this.content(uid, resource);
    const type = { 'Content-Type': resource === 'log' ? 'application/json' : 'application/yaml' };
    return this.faultOf(uid, resource, nth)?.(good) ?? answers.ok(good, type);
  };

  /** What the nth request for it gets, from 1; undefined: its good answer. */
  faultOf(uid: string, resource: Resource, nth: number): Fault | undefined {
    const random = seededRandom(`${this.seed}/${resource}/${uid}`);
    if (random() >= this.rate) return undefined;
    if (random() < permanentShare) {
      const ofLogs = [{ clusterUid: `not-${uid}` }, { clusterUid: uid, log: 42 }].map(
        (spec) => () => answers.ok(JSON.stringify({ spec })),
      );
      return pick(random, resource === 'log' ? [...permanentFaults, ...ofLogs] : permanentFaults);
    }
    const failures = between(random, 1, mostFailures);
    return Array.from({ length: failures }, () => pick(random, transientFaults))[nth - 1];
  }

  /** What a good answer carries. */
  content(uid: string, resource: Resource): string {
    return resource === 'log' ? logRecord({ uid }) : manifestText(uid);
  }
}

/** Every cluster x resource of these clusters. */
export function everyPair(uids: readonly string[]): { uid: string; resource: Resource }[] {
  return uids.flatMap((uid) => firstResources.map((resource) => ({ uid, resource })));
}
