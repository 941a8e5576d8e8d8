/** A call is answered with an error, in the service's own words. */
export class AwsError extends Error {
  override readonly name = 'AwsError';
  readonly status: number;
  /** The service's error code. */
  readonly code: string;
  /** Further members of the answer's body. */
  readonly details: Readonly<Record<string, string>>;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    details: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}
