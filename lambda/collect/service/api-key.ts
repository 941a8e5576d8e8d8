import { isNativeError } from 'node:util/types';
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';

const withMember = z.object({ apiKey: z.string() });

/** The API key cannot be read. The message says what to do and never holds any part of the secret. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
}

/**
 * The API key from Secrets Manager: a plain string, or JSON with the member `apiKey`. One for each attempt: the key of an
 * earlier one may have been replaced since.
 */
export class ApiKey {
  readonly #client: SecretsManagerClient;
  readonly #secret: string;
  #key: Promise<string> | undefined;

  /** @param secret name or ARN */
  constructor(client: SecretsManagerClient, secret: string) {
    this.#client = client;
    this.#secret = secret;
  }

  /**
   * Read once for an attempt: a rotation counts when the service rejects the key that it has replaced.
   * @param signal of the run: all who ask during a run share one reading, which ends with it
   * @throws ApiKeyError if no key could be read yet; the signal's reason when it aborts
   */
  current(signal: AbortSignal): Promise<string> {
    this.#key ??= this.#read(signal).catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }

  /**
   * The key after the service rejected one: another one that was read meanwhile, or what a reading says that begins now.
   * @param signal of the run
   * @returns the rejected key itself if the secret has no other
   * @throws ApiKeyError if it cannot be read; the rejected key then stays the current one; the signal's reason
   */
  async afterRejection(rejected: string, signal: AbortSignal): Promise<string> {
    const known = await this.current(signal);
    if (known !== rejected) return known;
    const read = await this.#read(signal);
    if (read !== rejected) this.#key = Promise.resolve(read);
    return this.current(signal);
  }

  async #read(signal: AbortSignal): Promise<string> {
    const failed = (reason: string, cause?: unknown) =>
      new ApiKeyError(`Reading the API key from the secret ${this.#secret} failed: ${reason}`, { cause });
    const setIt = howToSet(this.#secret);
    const { SecretString: text } = await this.#client
      .send(new GetSecretValueCommand({ SecretId: this.#secret }), { abortSignal: signal })
      .catch((error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof ResourceNotFoundException)
          throw failed(`it has no value yet, or does not exist; ${setIt}`, error);
        // An answer that is not JSON: the SDK's error quotes it, and it holds the secret.
        if (isNativeError(error) && error.name === 'SyntaxError')
          throw failed('the answer of Secrets Manager is not JSON');
        throw failed(isNativeError(error) ? `${error.name}: ${error.message}` : String(error), error);
      });
    if (text === undefined) throw failed(`its value is binary; ${setIt}`);
    // Editors put a byte order mark before a text and a line end behind it; trimming takes both.
    const trimmed = text.trim();
    const key = trimmed.startsWith('{') ? apiKeyMember(trimmed) : trimmed;
    if (key === undefined)
      throw failed(`its value is neither a plain string nor JSON with the member "apiKey"; ${setIt}`);
    if (/^(["'`]).*\1$/.test(key)) throw failed(`its value stands in quotes, which are not part of a key; ${setIt}`);
    if (!/^[\x21-\x7e]+$/.test(key))
      throw failed(`its value is empty or has characters that no header can carry; ${setIt}`);
    return key;
  }
}

/** Whether a secret is the stack's own. The function gets its ARN, and of an existing secret the name, which has no colon. */
export function isOwnSecret(secret: string): boolean {
  return secret.startsWith('arn:');
}

/** An existing secret may hold more than the key, and the command that sets a secret replaces all of it. */
function howToSet(secret: string): string {
  return isOwnSecret(secret)
    ? `set it: aws secretsmanager put-secret-value --secret-id ${secret} --secret-string file://key.txt`
    : 'ask the owner of the secret to add the key to it, as the member "apiKey" if the secret has others; do not replace its value';
}

function apiKeyMember(text: string): string | undefined {
  try {
    const parsed = withMember.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data.apiKey.trim() : undefined;
  } catch (error) {
    // Not JSON after all. The error is dropped because it quotes the text, which is the secret.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
