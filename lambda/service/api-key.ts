import { isNativeError } from 'node:util/types';
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';
import type { Clock } from '../clock';
import { ApiKeyError, type KeySource } from './key-source';

/** How long a key is used before it is read again, in milliseconds: a rotation without a 401 takes effect within this. */
const keptMs = 5 * 60 * 1000;

/**
 * How long the answer of a reading that a rejection caused stands, in milliseconds: one cluster that the key may not
 * read must not cause a reading per request.
 */
const confirmedMs = 30 * 1000;

const withMember = z.object({ apiKey: z.string() });

/** The API key from Secrets Manager: a plain string, or JSON with the member `apiKey`. */
export class ApiKey implements KeySource {
  readonly #client: SecretsManagerClient;
  readonly #secret: string;
  readonly #clock: Clock;
  #key: string | undefined;
  #readAtMs = 0;
  #confirmedAtMs: number | undefined;
  #reading: Promise<string> | undefined;

  /** @param secret name or ARN */
  constructor(client: SecretsManagerClient, secret: string, clock: Clock) {
    this.#client = client;
    this.#secret = secret;
    this.#clock = clock;
  }

  /**
   * @param signal of the run: all who ask during a run share one reading, which ends with it
   * @throws ApiKeyError; the signal's reason when it aborts
   */
  current(signal: AbortSignal): Promise<string> {
    const fresh = this.#clock.monotonicMs() - this.#readAtMs < keptMs;
    return this.#key !== undefined && fresh ? Promise.resolve(this.#key) : this.#read(signal);
  }

  /**
   * The key to use after the service rejected one: read again, once for all who ask at the same time.
   * @param signal as for {@link current}
   * @returns the rejected key if it is still the secret's value
   * @throws ApiKeyError; the signal's reason when it aborts
   */
  async afterRejection(rejected: string, signal: AbortSignal): Promise<string> {
    if (this.#key !== undefined && this.#key !== rejected) return this.#key;
    const confirmed = this.#confirmedAtMs;
    if (confirmed !== undefined && this.#clock.monotonicMs() - confirmed < confirmedMs) return rejected;
    const key = await this.#read(signal);
    this.#confirmedAtMs = key === rejected ? this.#readAtMs : undefined;
    return key;
  }

  #read(signal: AbortSignal): Promise<string> {
    this.#reading ??= this.#fetch(signal).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #fetch(signal: AbortSignal): Promise<string> {
    const failed = (reason: string, cause?: unknown) =>
      new ApiKeyError(`Reading the API key from the secret ${this.#secret} failed: ${reason}`, { cause });
    const setIt = `set it: aws secretsmanager put-secret-value --secret-id ${this.#secret} --secret-string file://key.txt`;
    const { SecretString: text } = await this.#client
      .send(new GetSecretValueCommand({ SecretId: this.#secret }), { abortSignal: signal })
      .catch((error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof ResourceNotFoundException)
          throw failed(`it has no value yet, or does not exist; ${setIt}`, error);
        // An answer that is no JSON: the SDK's error quotes it, and it holds the secret.
        if (isNativeError(error) && error.name === 'SyntaxError') throw failed('Secrets Manager answered with no JSON');
        throw failed(isNativeError(error) ? `${error.name}: ${error.message}` : String(error), error);
      });
    if (text === undefined) throw failed(`its value is binary; ${setIt}`);
    const key = text.trimStart().startsWith('{') ? apiKeyMember(text) : text.trim();
    if (key === undefined)
      throw failed(`its value is neither a plain string nor JSON with the member "apiKey"; ${setIt}`);
    if (!/^[\x21-\x7e]+$/.test(key))
      throw failed(`its value is empty or has characters that no header can carry; ${setIt}`);
    this.#key = key;
    this.#readAtMs = this.#clock.monotonicMs();
    return key;
  }
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
