import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type Account,
  type Answer,
  AwsError,
  type Call,
  type CallFacts,
  type PreparedCall,
  type Principal,
  parseTarget,
} from './call';
import { refusalOfAny } from './iam/authorize';
import { s3ErrorAnswer } from './s3/s3-answers';
import { prepareS3Call } from './s3/s3-service';
import { jsonErrorAnswer, prepareJsonCall } from './secrets-and-keys';
import { prepareSnsCall, snsErrorAnswer } from './sns';

/** How one service takes part in a call. */
interface Service {
  /** @throws AwsError for a call whose form is wrong, or not known here */
  readonly prepare: (call: Call, account: Account) => Promise<PreparedCall>;
  /** Status and code of the error for a call that the policies refuse. */
  readonly denied: readonly [status: number, code: string];
  readonly errorAnswer: (error: AwsError, requestId: string) => Answer;
}

const jsonService: Service = {
  prepare: prepareJsonCall,
  denied: [400, 'AccessDeniedException'],
  errorAnswer: jsonErrorAnswer,
};

const services: Readonly<Record<CallFacts['service'], Service>> = {
  s3: {
    prepare: prepareS3Call,
    denied: [403, 'AccessDenied'],
    errorAnswer: s3ErrorAnswer,
  },
  secretsmanager: jsonService,
  kms: jsonService,
  sns: {
    prepare: prepareSnsCall,
    denied: [403, 'AuthorizationError'],
    errorAnswer: snsErrorAnswer,
  },
};

/** The service that a request is for: each has a form of its own. */
function serviceOf({ method, headers }: IncomingMessage): CallFacts['service'] {
  const target = headers['x-amz-target'];
  if (target !== undefined) return String(target).startsWith('TrentService.') ? 'kms' : 'secretsmanager';
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return method === 'POST' && isForm ? 'sns' : 's3';
}

/** One answered call. */
export interface LoggedRequest extends Readonly<CallFacts> {
  /** Undefined: the connection was cut before an answer. */
  readonly status: number | undefined;
  /** The error code, if the call failed. */
  readonly code?: string | undefined;
  /** Why the endpoint itself failed, such as an error of its file system; undefined if it did its work. */
  readonly failure?: unknown;
}

/** Who else takes part in calls. */
export interface EndpointHooks {
  /**
   * Stands around each call that the policies admit.
   * @param execute carries the call out
   * @param closing resolves when the endpoint closes, which waits for all calls
   * @returns undefined: the connection is to be cut without an answer
   * @throws AwsError for an error of the service in the place of its answer
   */
  readonly around?:
    | ((
        call: Readonly<CallFacts>,
        execute: () => Promise<Answer>,
        closing: Promise<undefined>,
      ) => Promise<Answer | undefined>)
    | undefined;
  /** Called for every call just before its answer is sent. */
  readonly onRequest?: ((request: LoggedRequest) => void) | undefined;
}

export interface LocalAwsOptions extends EndpointHooks, Account {}

/**
 * Answers a call, once the policies of its caller admit it. Knows no connection.
 * @returns undefined: the connection is to be cut without an answer
 */
export async function answerCall(
  { around = (_call, execute) => execute(), onRequest, ...account }: LocalAwsOptions,
  request: IncomingMessage,
  closing: Promise<undefined>,
): Promise<Answer | undefined> {
  const { method = '', headers } = request;
  const requestId = randomUUID();
  const facts: CallFacts = { service: serviceOf(request), action: '', method, headers };
  const service = services[facts.service];
  let error: AwsError | undefined;
  let answer: Answer | undefined;
  try {
    const call = { request, target: parseTarget(request.url ?? ''), facts };
    const { accesses, execute } = await service.prepare(call, account);
    const principal = callerOf(request, account);
    const refusal = refusalOfAny(principal, accesses);
    if (refusal !== undefined) throw new AwsError(...service.denied, refusal);
    answer = await around(facts, () => execute(principal), closing);
  } catch (thrown) {
    error = asAwsError(thrown);
    answer = service.errorAnswer(error, requestId);
  }
  const isCut = answer === undefined || request.socket.destroyed;
  onRequest?.({ ...facts, status: isCut ? undefined : answer?.status, code: error?.code, failure: error?.cause });
  // S3 has the first name for it, other services the second.
  const ids = { 'x-amz-request-id': requestId, 'x-amzn-requestid': requestId };
  return answer && { ...answer, headers: { ...answer.headers, ...ids } };
}

/**
 * Finds out who makes a call, by the access key in its signature. The signature itself is not verified: AWS's own
 * clients make it, and a test of `SignedRequests` computes its signatures as S3 does.
 * @throws AwsError in S3's own words, whichever service is called
 */
function callerOf({ headers }: IncomingMessage, { principals }: Account): Principal {
  const [, keyId] = /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\//.exec(headers.authorization ?? '') ?? [];
  if (keyId === undefined) throw new AwsError(403, 'AccessDenied', 'Access Denied: the request is not signed');
  const principal = principals.find(({ accessKeyId }) => accessKeyId === keyId);
  if (principal === undefined)
    throw new AwsError(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.');
  if (headers['x-amz-security-token'] !== principal.sessionToken)
    throw new AwsError(400, 'InvalidToken', 'The provided token is not the one that belongs to the access key.');
  return principal;
}

/** @returns with a `cause` if the endpoint itself failed */
function asAwsError(error: unknown): AwsError {
  if (error instanceof AwsError) return error;
  // The real service keeps the reason to itself. Here a developer has to find it.
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const message = `We encountered an internal error. Please try again. (${reason})`;
  return new AwsError(500, 'InternalError', message, {}, { cause: error });
}
