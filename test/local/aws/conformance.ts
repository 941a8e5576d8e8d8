import type { KMSClient } from '@aws-sdk/client-kms';
import type { S3Client } from '@aws-sdk/client-s3';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { SNSClient } from '@aws-sdk/client-sns';
import { keyChecks } from './conformance-keys';
import { listingChecks } from './conformance-listing';
import { objectChecks } from './conformance-objects';
import { policyChecks } from './conformance-policies';
import { secretChecks } from './conformance-secrets';
import { signatureChecks } from './conformance-signatures';
import { topicChecks } from './conformance-topics';
import { uploadChecks } from './conformance-uploads';
import type { RawClient, RawCredentials } from './raw-request';

/** What is checked: the embedded endpoint or moto, set up in the same way. */
export interface Subject {
  readonly region: string;
  /** Of the caller that may do everything. */
  readonly credentials: RawCredentials;
  /** Without a policy. */
  readonly bucket: string;
  /** Its policy denies writes without If-None-Match, and deletion. */
  readonly guardedBucket: string;
  readonly s3: S3Client;
  readonly secrets: SecretsManagerClient;
  readonly kms: KMSClient;
  readonly sns: SNSClient;
  readonly raw: RawClient;
  /** May put objects under `logs/` and nothing else. */
  readonly writer: S3Client;
  readonly writerSecrets: SecretsManagerClient;
  readonly writerKms: KMSClient;
  readonly writerSns: SNSClient;
  /** Has a value. */
  readonly secret: { readonly name: string; readonly arn: string; readonly value: string };
  /** Has none. */
  readonly emptySecret: string;
  /** ARN of a key of KMS: ECC_NIST_P256, SIGN_VERIFY. */
  readonly signingKey: string;
  readonly topic: string;
}

/** One thing that the real service does; fails if the subject does something else. */
export type Check = (subject: Subject) => Promise<void>;

/** By what the service does, as a sentence. */
export const conformanceChecks: Readonly<Record<string, Check>> = {
  ...objectChecks,
  ...uploadChecks,
  ...listingChecks,
  ...signatureChecks,
  ...policyChecks,
  ...secretChecks,
  ...keyChecks,
  ...topicChecks,
};
