import { randomUUID } from 'node:crypto';

/** A secret as it is set up. */
export interface LocalSecret {
  readonly name: string;
  readonly arn: string;
  /** Left out: a secret without a value, as CloudFormation creates one without SecretString. */
  readonly value?: string;
}

export interface StoredSecret {
  readonly name: string;
  readonly arn: string;
  /** Undefined: the secret has no value. */
  readonly current: SecretVersion | undefined;
}

interface SecretVersion {
  readonly id: string;
  readonly value: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Secrets in memory, each with its current value only. */
export class SecretStore {
  readonly #secrets = new Map<string, StoredSecret>();

  constructor(secrets: readonly LocalSecret[]) {
    for (const secret of secrets) this.set(secret, secret.value);
  }

  /** The secret of this name, ARN, or ARN without the six characters that the service puts behind the name. */
  find(id: string): StoredSecret | undefined {
    const byName = this.#secrets.get(id);
    return byName ?? [...this.#secrets.values()].find(({ arn }) => arn === id || arn.replace(/-[^-]{6}$/, '') === id);
  }

  /** Sets or, with undefined, takes away the value. */
  set({ name, arn }: { readonly name: string; readonly arn: string }, value: string | undefined): void {
    const current = value === undefined ? undefined : { id: randomUUID(), value, createdAt: Date.now() };
    this.#secrets.set(name, { name, arn, current });
  }
}
