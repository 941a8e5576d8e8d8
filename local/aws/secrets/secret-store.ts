import { randomUUID } from 'node:crypto';

/** A secret as it is set up. */
export interface LocalSecret {
  readonly name: string;
  readonly arn: string;
  /** Left out: a secret without a value, as CloudFormation makes an empty one. */
  readonly value?: string;
}

export interface SecretVersion {
  readonly id: string;
  readonly value: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export interface StoredSecret {
  readonly name: string;
  readonly arn: string;
  /** Undefined: the secret has no value. */
  readonly current: SecretVersion | undefined;
}

/** Secrets in memory, each with its current value only. */
export class SecretStore {
  private readonly secrets = new Map<string, StoredSecret>();

  constructor(secrets: readonly LocalSecret[]) {
    for (const { name, arn, value } of secrets) this.keep({ name, arn }, value, randomUUID());
  }

  /** The secret of this name, ARN, or ARN without the six characters that the service puts behind the name. */
  find(id: string): StoredSecret | undefined {
    const byName = this.secrets.get(id);
    return byName ?? [...this.secrets.values()].find(({ arn }) => arn === id || arn.replace(/-[^-]{6}$/, '') === id);
  }

  /** Sets or, with undefined, takes away the value. */
  set(secret: StoredSecret, value: string | undefined, versionId: string = randomUUID()): void {
    this.keep(secret, value, versionId);
  }

  private keep({ name, arn }: { name: string; arn: string }, value: string | undefined, id: string): void {
    this.secrets.set(name, {
      name,
      arn,
      current: value === undefined ? undefined : { id, value, createdAt: Date.now() },
    });
  }
}
