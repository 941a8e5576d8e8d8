import * as z from 'zod';
import type { Fault, InterceptedRequest } from '../aws/fault';
import { refusalOf } from '../aws/iam/authorize';
import { policyDocumentSchema, type Role } from './role';
import type { StackTemplate } from './stack-template';

const keySchema = z.object({ KeyPolicy: policyDocumentSchema });

const bucketSchema = z.object({
  BucketEncryption: z
    .object({
      ServerSideEncryptionConfiguration: z.array(
        z.object({ ServerSideEncryptionByDefault: z.object({ KMSMasterKeyID: z.string().optional() }).optional() }),
      ),
    })
    .optional(),
});

const secretSchema = z.object({ KmsKeyId: z.string().optional() });

/** The permission that a call needs on the key of the bucket or secret. */
const neededOfKey: Readonly<Record<string, string>> = {
  PutObject: 'kms:GenerateDataKey',
  GetObject: 'kms:Decrypt',
  GetSecretValue: 'kms:Decrypt',
};

/** The stack's KMS keys: they decide whether a call is allowed. Nothing is encrypted locally. */
export class EncryptionKeys {
  readonly #stack: StackTemplate;
  /** Key ids by bucket name. */
  readonly #keyOfBucket: ReadonlyMap<string, string>;
  readonly #keyOfSecret: string | undefined;

  constructor(stack: StackTemplate) {
    this.#stack = stack;
    this.#keyOfBucket = new Map(
      stack.resourcesOf('AWS::S3::Bucket').flatMap((bucket) => {
        const rules = bucket.read(bucketSchema).BucketEncryption?.ServerSideEncryptionConfiguration ?? [];
        const keyId = rules[0]?.ServerSideEncryptionByDefault?.KMSMasterKeyID;
        return keyId === undefined ? [] : [[bucket.identity.ref, keyId] as const];
      }),
    );
    this.#keyOfSecret = stack
      .resourcesOf('AWS::SecretsManager::Secret')
      .map((secret) => secret.read(secretSchema).KmsKeyId)
      .find((keyId) => keyId !== undefined);
  }

  /** The refusal of a call that needs a key which the role may not use; undefined for all other calls. */
  faultOf(role: Role, { service, action, bucket }: InterceptedRequest): Fault | undefined {
    const keyId = service === 's3' ? this.#keyOfBucket.get(bucket ?? '') : this.#keyOfSecret;
    const needed = neededOfKey[action];
    if (keyId === undefined || needed === undefined) return undefined;
    const message = this.refusalOf(role, needed, keyId, service);
    if (message === undefined) return undefined;
    return service === 's3'
      ? { kind: 'error', status: 403, code: 'AccessDenied', message }
      : { kind: 'error', status: 400, code: 'AccessDeniedException', message };
  }

  /**
   * Why a role may not use a key through a service; undefined if it may. If the key is not in the template, the role's
   * policies decide, as they do under a key's default policy.
   */
  refusalOf(role: Role, action: string, keyId: string, service: string): string | undefined {
    // A key that AWS manages lets everybody in the account use it through its service.
    if (keyId.includes('alias/aws/')) return undefined;
    const key = this.#stack
      .resourcesOf('AWS::KMS::Key')
      .find(({ identity }) => keyId === identity.ref || keyId === identity.arn);
    return refusalOf(role, {
      action,
      resource: key?.identity.arn ?? keyId,
      resourcePolicy: key?.read(keySchema).KeyPolicy,
      context: { 'kms:ViaService': `${service}.${this.#stack.location.region}.amazonaws.com` },
    });
  }
}
