import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AwsError } from './aws-error';
import { type Account, type Answer, type Call, type CallFacts, InvalidTargetError, parseTarget } from './call';
import type { EndpointHooks, Fault } from './fault';
import { admitJsonCall, type JsonOperation, jsonErrorAnswer } from './json-service';
import { keyOperations } from './kms';
import { s3ErrorAnswer } from './s3/s3-answers';
import { admitS3Call } from './s3/s3-service';
import { secretOperations } from './secrets-manager';
import { admitSnsCall, snsErrorAnswer } from './sns';

/** How one service takes part in a call. */
interface Service {
  /** Refuses the call, or returns what carries it out. */
  readonly admit: (call: Call, account: Account) => Promise<() => Promise<Answer>>;
  readonly errorAnswer: (error: AwsError, requestId: string) => Answer;
  readonly requestIdHeader: string;
}

const services: Readonly<Record<CallFacts['service'], Service>> = {
  s3: { admit: admitS3Call, errorAnswer: s3ErrorAnswer, requestIdHeader: 'x-amz-request-id' },
  secretsmanager: jsonService(secretOperations),
  kms: jsonService(keyOperations),
  sns: { admit: admitSnsCall, errorAnswer: snsErrorAnswer, requestIdHeader: 'x-amzn-requestid' },
};

function jsonService(operations: ReadonlyMap<string, JsonOperation>): Service {
  return {
    admit: (call, account) => admitJsonCall(operations, call, account),
    errorAnswer: jsonErrorAnswer,
    requestIdHeader: 'x-amzn-requestid',
  };
}

/** The service that a request is for: each has a form of its own. */
function serviceOf({ method, headers }: IncomingMessage): CallFacts['service'] {
  const target = headers['x-amz-target'];
  if (target !== undefined) return String(target).startsWith('TrentService.') ? 'kms' : 'secretsmanager';
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return method === 'POST' && isForm ? 'sns' : 's3';
}

/** Answers calls: the service admits a call, a test may inject a fault, the call is carried out. Knows no connection. */
export class AwsEndpoint {
  readonly #account: Account;
  readonly #hooks: EndpointHooks;
  readonly #stopped: Promise<undefined>;
  #stop: () => void = () => undefined;

  constructor(account: Account, hooks: EndpointHooks) {
    this.#account = account;
    this.#hooks = hooks;
    this.#stopped = new Promise((resolve) => {
      this.#stop = () => resolve(undefined);
    });
  }

  /** Answers the calls that an injected fault holds back. */
  stop(): void {
    this.#stop();
  }

  /** @returns undefined: the connection is to be cut without an answer */
  async answer(request: IncomingMessage, body: Call['body']): Promise<Answer | undefined> {
    const { method = '', headers } = request;
    const requestId = randomUUID();
    const name = serviceOf(request);
    const service = services[name];
    const facts: CallFacts = { service: name, action: '', method, headers };
    let code: string | undefined;
    let answer: Answer | undefined;
    try {
      answer = await this.#carryOut(service, { request, target: parseTarget(request.url ?? ''), facts, body });
    } catch (thrown) {
      const error = asAwsError(thrown);
      code = error.code;
      answer = service.errorAnswer(error, requestId);
    }
    const isCut = answer === undefined || request.socket.destroyed;
    this.#hooks.onRequest?.({ ...facts, status: isCut ? undefined : answer?.status, code });
    return answer && { ...answer, headers: { ...answer.headers, [service.requestIdHeader]: requestId } };
  }

  async #carryOut(service: Service, call: Call): Promise<Answer | undefined> {
    const execute = await service.admit(call, this.#account);
    const fault = await this.#unlessStopped(this.#hooks.intercept?.({ ...call.facts }));
    if (fault === undefined) return execute();
    if (fault.kind === 'error' && fault.when !== 'after') throw faultError(fault);
    if (fault.kind === 'reset' && fault.when === 'before') return undefined;
    // The call is carried out; the fault replaces or delays its answer.
    const [outcome] = await Promise.allSettled([execute()]);
    if (fault.kind === 'reset') return undefined;
    if (fault.kind === 'error') throw faultError(fault);
    await this.#unlessStopped(fault.until);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  #unlessStopped<T>(value: T | Promise<T>): Promise<T | undefined> {
    return Promise.race([value, this.#stopped]);
  }
}

function faultError({ status, code, message, headers }: Fault & { readonly kind: 'error' }): AwsError {
  return new AwsError(status, code, message ?? code, {}, headers);
}

function asAwsError(error: unknown): AwsError {
  if (error instanceof AwsError) return error;
  if (error instanceof InvalidTargetError) return new AwsError(400, 'InvalidURI', error.message);
  // The real service keeps the reason to itself. Here a developer has to find it.
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new AwsError(500, 'InternalError', `We encountered an internal error. Please try again. (${reason})`);
}
