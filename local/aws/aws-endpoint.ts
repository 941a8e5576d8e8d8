import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Account } from './account';
import type { Answer } from './answer';
import type { CallProgress } from './exchange';
import type { EndpointHooks, Fault } from './fault';
import { InvalidTargetError, parseTarget } from './request-target';
import { admitS3 } from './s3/s3-endpoint';
import { s3ErrorAnswer } from './s3/s3-service';
import {
  admitSecretsManager,
  secretsManagerErrorAnswer,
  secretsManagerTargetPrefix,
} from './secrets/secrets-manager-endpoint';
import { ServiceError } from './service-error';

/** Answers calls: signature, policies, the fault that is injected, the operation. Knows no connection. */
export class AwsEndpoint {
  private readonly stopped: Promise<void>;
  private resolveStopped: () => void = () => undefined;

  constructor(
    private readonly account: Account,
    private readonly hooks: EndpointHooks,
  ) {
    this.stopped = new Promise((resolve) => {
      this.resolveStopped = resolve;
    });
  }

  /** Lets go of calls that an injected fault holds back. */
  stop(): void {
    this.resolveStopped();
  }

  /** @returns undefined: the connection is to be cut without an answer */
  async answer(request: IncomingMessage, body: () => AsyncIterable<Uint8Array>): Promise<Answer | undefined> {
    const requestId = randomUUID();
    const amzTarget = request.headers['x-amz-target'];
    const service = amzTarget === undefined ? 's3' : 'secretsmanager';
    const method = request.method ?? '';
    const progress: CallProgress = { service, action: '', method, headers: request.headers };
    let code: string | undefined;
    let answer: Answer | undefined;
    try {
      answer = await this.carryOut(request, progress, body);
    } catch (thrown) {
      const error = asServiceError(thrown);
      code = error.code;
      answer = service === 's3' ? s3ErrorAnswer(error, requestId, request.url ?? '') : secretsManagerErrorAnswer(error);
    }
    const isCut = answer === undefined || request.socket.destroyed;
    this.hooks.onRequest?.({ ...progress, status: isCut ? undefined : answer?.status, code });
    const idHeader = service === 's3' ? 'x-amz-request-id' : 'x-amzn-requestid';
    return answer && { ...answer, headers: { ...answer.headers, [idHeader]: requestId } };
  }

  private async carryOut(
    request: IncomingMessage,
    progress: CallProgress,
    body: () => AsyncIterable<Uint8Array>,
  ): Promise<Answer | undefined> {
    const exchange = { request, target: parseTarget(request.url ?? ''), progress, body };
    const amzTarget = request.headers['x-amz-target'];
    if (amzTarget !== undefined && !String(amzTarget).startsWith(secretsManagerTargetPrefix))
      throw new ServiceError(400, 'UnknownOperationException', `The embedded endpoint has no ${amzTarget}`);
    const execute = await (amzTarget === undefined
      ? admitS3(exchange, this.account)
      : admitSecretsManager(exchange, this.account));
    const fault = await this.unlessStopped(this.hooks.intercept?.({ ...progress }));
    if (fault?.kind === 'error' && fault.when !== 'after') throw faultError(fault);
    if (fault?.kind === 'reset' && fault.when === 'before') return undefined;
    if (fault === undefined) return execute();
    // The fault takes the place of the answer, whatever it is; the call itself has been carried out by then.
    const [outcome] = await Promise.allSettled([execute()]);
    if (fault.kind === 'reset') return undefined;
    if (fault.kind === 'error') throw faultError(fault);
    await this.unlessStopped(fault.until);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  private unlessStopped<T>(value: T | Promise<T>): Promise<T | undefined> {
    return Promise.race([value, this.stopped.then(() => undefined)]);
  }
}

function faultError({ status, code, message, headers }: Fault & { readonly kind: 'error' }): ServiceError {
  return new ServiceError(status, code, message ?? code, {}, headers);
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof InvalidTargetError) return new ServiceError(400, 'InvalidURI', error.message);
  // Said in full, unlike the service does: this one is run by who must find the reason.
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new ServiceError(500, 'InternalError', `We encountered an internal error. Please try again. (${reason})`);
}
