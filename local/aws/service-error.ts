/** A call is answered with an error, as the service words it. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  constructor(
    readonly status: number,
    /** The service's error code. */
    readonly code: string,
    message: string,
    /** Further members of the answer's body. */
    readonly details: Readonly<Record<string, string>> = {},
    /** Further headers of the answer. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
