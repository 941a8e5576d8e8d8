import type { KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Access, Caller, EncryptionKey } from './iam/authorize';
import type { ResourcePolicy } from './iam/policy-document';
import type { FolderStore } from './store/folder-store';

/** What can be called, and who may call. */
export interface Account {
  readonly region: string;
  readonly principals: readonly Principal[];
  readonly buckets: readonly Bucket[];
  readonly secrets: readonly LocalSecret[];
  /** Left out: KMS has no key. */
  readonly signingKeys?: readonly SigningKey[];
  /** Delivers a message, or returns why the policies refuse it. Left out: SNS has no topic. */
  readonly publish?: ((principal: Principal, message: DeliveredMessage) => string | undefined) | undefined;
}

/** Who may call, with which credentials and policies. */
export interface Principal extends Caller {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A secret of Secrets Manager, with its current value only. */
export interface LocalSecret {
  readonly arn: string;
  /** May be set later. Left out: a secret without a value, as CloudFormation creates one without SecretString. */
  value?: string | undefined;
}

export interface Bucket {
  readonly name: string;
  /** Where its objects lie; made if it is absent. */
  readonly folder: string;
  readonly policy?: ResourcePolicy | undefined;
  readonly key?: EncryptionKey | undefined;
}

/** A key of KMS that signs: ECC_NIST_P256. */
export interface SigningKey {
  readonly arn: string;
  /** The key's policy, which decides together with the policies of the caller. */
  readonly policy: ResourcePolicy;
  readonly privateKey: KeyObject;
}

/** One message that a topic or a queue got. Nothing is sent to its readers. */
export interface DeliveredMessage {
  /** ARN of the topic or queue. */
  readonly to: string;
  /** Of a mail; left out if the sender gave none. */
  readonly subject?: string;
  /** Text, as its readers get it; of a topic, those who read mail. */
  readonly body: string;
  /** What other subscribers of the topic get; left out: the same. */
  readonly record?: string;
}

/** One call while it is worked on. */
export interface Call {
  readonly request: IncomingMessage;
  readonly target: RequestTarget;
  readonly facts: CallFacts;
}

/** What is known of a call. It is filled in while the call is worked on. */
export interface CallFacts {
  readonly service: 's3' | 'secretsmanager' | 'kms' | 'sns';
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** `PutObject`, `GetSecretValue`, `Sign`, `Publish`. */
  action: string;
  bucket?: string;
  key?: string;
}

/** A call whose form is right. */
export interface PreparedCall {
  /** What the policies have to allow. */
  readonly accesses: readonly (Access | undefined)[];
  /**
   * Carries it out.
   * @throws AwsError
   */
  readonly execute: (principal: Principal) => Promise<Answer>;
}

/** What a call to S3 that may be carried out works on. */
export interface S3Request {
  readonly store: FolderStore;
  /** Empty for a call on the bucket. */
  readonly key: string;
  /** The refusal that hides whether an object is there; undefined for a caller that may list the bucket. */
  readonly refusalToList: () => AwsError | undefined;
}

/** The answer to a call. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A function opens a stream of as many bytes as the header Content-Length says. */
  readonly body?: string | (() => Readable);
}

/** A call is answered with an error, in the service's own words. */
export class AwsError extends Error {
  override readonly name = 'AwsError';

  /**
   * @param code the service's error code
   * @param headers further ones of the answer
   */
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What a request line asks for. */
export interface RequestTarget {
  /** Decoded, without the leading slash: `bucket/key`. */
  readonly path: string;
  /** Decoded; a parameter without a value has an empty one. */
  readonly query: Readonly<Record<string, string>>;
}

/** Reads the path by hand: a URL parser would resolve `..` and `%2e%2e`, and so change the key. */
export function parseTarget(url: string): RequestTarget {
  const [path = '', ...query] = url.split('?');
  return {
    path: decodeURIComponent(path.slice(1)),
    query: Object.fromEntries(new URLSearchParams(query.join('?'))),
  };
}
