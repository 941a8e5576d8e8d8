/** A failure as an SDK client reports it. */
export interface Failure {
  readonly status: number | undefined;
  readonly code: string;
  readonly message: string;
}

/** How a call failed. Throws if it succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  let result: unknown;
  try {
    result = await call;
  } catch (error) {
    const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    return { status: $metadata?.httpStatusCode, code: name, message };
  }
  throw new Error(`a call that was to fail succeeded: ${JSON.stringify(result)?.slice(0, 200)}`);
}
