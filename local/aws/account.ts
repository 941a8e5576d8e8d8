import type { PolicyDocument } from './iam/authorize';
import type { SecretStore } from './secrets/secret-store';
import type { Credentials } from './signature';
import type { FolderStore } from './store/folder-store';

/** Who may call, and with which policies. */
export interface Principal extends Credentials {
  /** ARN of the role or user. */
  readonly arn: string;
  readonly policies: readonly PolicyDocument[];
}

export interface Bucket {
  readonly store: FolderStore;
  readonly policy: PolicyDocument | undefined;
}

/** What there is, and who may use it. */
export interface Account {
  readonly region: string;
  readonly accountId: string;
  /** By access key. */
  readonly principals: ReadonlyMap<string, Principal>;
  /** By name. */
  readonly buckets: ReadonlyMap<string, Bucket>;
  readonly secrets: SecretStore;
}
