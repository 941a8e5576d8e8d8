import type { Fault, InterceptedRequest } from './fault';
import type { PolicyDocument } from './policy-document';

export type { Fault, InterceptedRequest } from './fault';

/** Who may call, and with which policies. */
export interface Principal {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** ARN of the role or user. */
  readonly arn: string;
  readonly policies: readonly PolicyDocument[];
}

export interface LocalBucket {
  readonly name: string;
  /** Where its objects lie; made if it is absent. */
  readonly folder: string;
  readonly policy?: PolicyDocument;
}

export interface LocalSecret {
  readonly name: string;
  readonly arn: string;
  /** Left out: a secret without a value, as CloudFormation makes an empty one. */
  readonly value?: string;
}

/** One answered call. */
export interface LoggedRequest extends InterceptedRequest {
  readonly principalArn?: string | undefined;
  /** Undefined: the connection was cut before an answer. */
  readonly status: number | undefined;
  /** The error code of an answer that is no success. */
  readonly code?: string | undefined;
}

export interface LocalAwsOptions {
  readonly region: string;
  readonly accountId: string;
  readonly principals: readonly Principal[];
  readonly buckets: readonly LocalBucket[];
  readonly secrets: readonly LocalSecret[];
  /** Asked once per call, after signature and policies and before any effect. */
  readonly intercept?: (request: InterceptedRequest) => Fault | undefined | Promise<Fault | undefined>;
  readonly onRequest?: (request: LoggedRequest) => void;
}

export interface LocalAws {
  /** `http://127.0.0.1:<port>`, for AWS_ENDPOINT_URL. */
  readonly url: string;
  /**
   * Sets or, with undefined, takes away a secret's value.
   * @throws Error for a secret that is not there
   */
  setSecretValue(nameOrArn: string, value: string | undefined): void;
  /** Cuts every connection and waits until nothing is written any more. */
  close(): Promise<void>;
}

/** Starts S3 and Secrets Manager over folders, at a free port of the loopback. */
export function startLocalAws(_options: LocalAwsOptions): Promise<LocalAws> {
  throw new Error('not written yet');
}
