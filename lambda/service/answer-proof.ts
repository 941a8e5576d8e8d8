import { setTimeout as delay } from 'node:timers/promises';
import { InvalidBodyError } from '../body/body-check';
import type { ReceivedBody } from '../body/receive';
import { resources } from '../resources';
import { arrivalsRead, type Connection } from './connection';
import { refusal } from './explain-failure';
import { callName, type ResourceRequest } from './resource-request';
import { ServiceError } from './service-error';

/**
 * How long a connection has to stay silent behind an answer that does not show its end by itself, in milliseconds: a
 * length that is too small leaves the rest of the body behind it. Long enough for packets that were sent together.
 */
const silenceMs = 5;

/** Answers of one connection that a later one is compared with. */
const mostCompared = 8;

/** Contents whose first connection is remembered. */
const mostContents = 1000;

/** A good answer that a connection has brought. */
interface Brought {
  readonly call: string;
  readonly sha256: string;
  readonly connection: number;
}

/** What a connection was used for. */
interface History {
  readonly connection: number;
  lastCall: string;
  /** Whether the last good answer named its cluster. */
  namedItsCluster: boolean;
  /** The last good answers, the latest at the end. */
  readonly brought: Brought[];
}

/**
 * Decides whether an answer belongs to its request. HTTP/1.1 cannot tell: a gateway that repeats an answer, or sends one
 * late, shifts all answers that follow on the connection.
 *
 * - What does not name its cluster is asked for on a new connection, where nothing can be left of an earlier answer, or on
 *   one whose last answer did name its cluster, and so was not shifted.
 * - On a used connection an answer counts only if it passes its check, no byte came that nobody asked for, and its bytes
 *   are not those of the answer for another cluster before it. Otherwise it is `unproven`, and asked for again on a new
 *   connection.
 */
export class AnswerProof {
  readonly #onWarning: (warning: string) => void;
  readonly #histories = new WeakMap<Connection, History>();
  /** Calls whose next request gets a new connection; with the answer that was the same, if that is the reason. */
  readonly #unproven = new Map<string, Brought | undefined>();
  /** First answers with a content, by SHA-256. */
  readonly #first = new Map<string, Brought>();
  /** SHA-256 of contents that several clusters really have: more than one connection has brought them. */
  readonly #shared = new Set<string>();
  #connections = 0;
  /** Whether a connection has brought what nobody asked for, or an answer that belongs to another request. */
  #isMistrusted = false;

  /** @param onWarning gets what an operator should know of the connections to the service */
  constructor(onWarning: (warning: string) => void) {
    this.#onWarning = onWarning;
  }

  /** The connection for a request; undefined: a new one. @param idle in the order of their last use */
  choose(request: ResourceRequest, idle: readonly Connection[]): Connection | undefined {
    if (this.#unproven.has(callName(request))) return undefined;
    const isInStep = (connection: Connection) => this.#histories.get(connection)?.namedItsCluster === true;
    if (resources[request.resource].namesItsCluster)
      // The others are left for requests that need them.
      return idle.findLast((connection) => !isInStep(connection)) ?? idle.at(-1);
    return this.#isMistrusted ? undefined : idle.findLast(isInStep);
  }

  /** To be called when a connection has brought what nobody asked for. */
  discredit(connection: Connection): void {
    const when = this.#histories.get(connection)?.lastCall ?? 'its opening';
    this.#mistrust(`On a connection to the service, ${connection.unasked} (after ${when})`);
  }

  /** To be called with a connection before anything is asked for. @throws ServiceError `unproven` */
  begin(request: ResourceRequest, connection: Connection): void {
    if (connection.unasked !== undefined) throw this.#askAgain(request, connection.unasked);
    const history = this.#histories.get(connection);
    const lastCall = callName(request);
    if (history !== undefined) {
      Object.assign(history, { lastCall, namedItsCluster: false });
      return;
    }
    this.#connections += 1;
    this.#histories.set(connection, { connection: this.#connections, lastCall, namedItsCluster: false, brought: [] });
  }

  /**
   * The body, once it is certain that it belongs to the request; otherwise it is released.
   * @throws ServiceError `unproven`; whatever receiving it throws, if that belongs to the request
   */
  async prove(
    request: ResourceRequest,
    connection: Connection,
    receiving: Promise<ReceivedBody>,
  ): Promise<ReceivedBody> {
    let body: ReceivedBody | undefined;
    try {
      body = await receiving;
      await this.#expectSilence(request, connection);
      this.#compare(request, connection, body.sha256);
      return body;
    } catch (error) {
      await body?.release();
      if (!(error instanceof InvalidBodyError)) throw error;
      await this.#expectSilence(request, connection);
      if (connection.uses === 1) throw error;
      const reason = `200 OK, but ${refusal(error)}; on a used connection it may be another request's answer`;
      throw this.#askAgain(request, reason);
    }
  }

  /** Compares a good answer with those before it on its connection. @throws ServiceError `unproven` */
  #compare(request: ResourceRequest, connection: Connection, sha256: string): void {
    const history = this.#histories.get(connection);
    if (history === undefined) throw new Error('An answer was accepted before its request; this is a defect');
    const answer: Brought = { call: callName(request), sha256, connection: history.connection };
    const same = history.brought.find((other) => other.sha256 === sha256 && other.call !== answer.call);
    if (same !== undefined && !this.#shared.has(sha256))
      throw this.#askAgain(request, `its answer has the same bytes as the one to ${same.call} before it`, same);
    this.#remember(answer);
    history.namedItsCluster = resources[request.resource].namesItsCluster;
    history.brought.push(answer);
    if (history.brought.length > mostCompared) history.brought.shift();
  }

  async #expectSilence(request: ResourceRequest, connection: Connection): Promise<void> {
    if (!resources[request.resource].showsItsEnd) await delay(silenceMs);
    await arrivalsRead();
    const { unasked } = connection;
    if (unasked === undefined) return;
    throw this.#askAgain(request, `${unasked}: it may be cut short, or another request's`);
  }

  /** Compares an answer with what other connections have brought. */
  #remember(answer: Brought): void {
    const { call, sha256, connection } = answer;
    const repeated = this.#unproven.get(call);
    if (repeated !== undefined && repeated.sha256 !== sha256)
      this.#mistrust(`The answer to ${repeated.call} was repeated as the answer to ${call}`);
    const first = this.#first.get(sha256);
    if (first === undefined) {
      this.#first.set(sha256, answer);
      const [oldest] = this.#first.keys();
      if (this.#first.size > mostContents && oldest !== undefined) this.#first.delete(oldest);
    } else if (first.call !== call && first.connection !== connection && !this.#shared.has(sha256)) {
      this.#shared.add(sha256);
      const what = `The answers to ${first.call} and ${call}, on two connections, have the same bytes`;
      this.#onWarning(`${what}; if a connection repeats one of them, nobody can tell`);
    }
  }

  #mistrust(what: string): void {
    const consequence = this.#isMistrusted ? '' : '; from now on each manifest is asked for on a new connection';
    this.#isMistrusted = true;
    this.#onWarning(`${what}${consequence}`);
  }

  #askAgain(request: ResourceRequest, reason: string, same?: Brought): ServiceError {
    this.#unproven.set(callName(request), same);
    return new ServiceError(reason, 'unproven', { status: 200 });
  }
}
