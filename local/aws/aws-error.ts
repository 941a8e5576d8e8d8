/** A call is answered with an error, in the service's own words. */
export class AwsError extends Error {
  override readonly name = 'AwsError';

  /**
   * @param code the service's error code
   * @param headers further ones of the answer
   */
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
