/** The API key, cached, and read again when the service rejects it. */
export interface KeySource {
  current(signal: AbortSignal): Promise<string>;
  /**
   * The key after the service rejected one, never older than the rejected request.
   * @param requestStartedMs when the rejected request began, on the clock's monotonic time
   * @returns the rejected key itself if the secret has no other
   * @throws ApiKeyError if it cannot be read; the rejected key then stays the current one
   */
  afterRejection(rejected: string, requestStartedMs: number, signal: AbortSignal): Promise<string>;
}

/** The API key cannot be read. The message says what to do and never holds any part of the secret. */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
}
