/** The API key, cached, and read again when the service rejects it. */
export interface KeySource {
  current(signal: AbortSignal): Promise<string>;
  /** The key to use after the service rejected one; the rejected key itself if there is no other. */
  afterRejection(rejected: string, signal: AbortSignal): Promise<string>;
}

/** The API key cannot be read, so no request can succeed. The message says what to do and never holds any part of the secret. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
}
