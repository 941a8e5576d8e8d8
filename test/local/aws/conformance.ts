import { listingChecks } from './conformance-listing';
import { objectChecks } from './conformance-objects';
import { policyChecks } from './conformance-policies';
import { keyChecks, secretChecks, topicChecks } from './conformance-services';
import { signatureChecks } from './conformance-signatures';
import { uploadChecks } from './conformance-uploads';
import { admin, clientsOf, writer } from './endpoint-setup';

type Clients = ReturnType<typeof clientsOf>;

/**
 * What is checked: the embedded endpoint or moto, set up in the same way. Of its buckets, `archive` has no policy, and
 * that of `guarded` denies writes without If-None-Match, and deletion. The secret `empty` has no value.
 */
export interface Subject extends Clients {
  /** May put objects under `logs/` and nothing else. */
  readonly writer: Clients;
  /** Has a value. */
  readonly secret: { readonly name: string; readonly arn: string; readonly value: string };
  /** ARN of a key of KMS: ECC_NIST_P256, SIGN_VERIFY. */
  readonly signingKey: string;
  readonly topic: string;
}

export function subjectAt(url: string, names: Pick<Subject, 'secret' | 'signingKey' | 'topic'>): Subject {
  return { ...clientsOf(url, admin), writer: clientsOf(url, writer), ...names };
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
