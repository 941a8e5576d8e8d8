/** An error of a function in Lambda's own form, which callers of the function get as the payload. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

/** From the deployment to the runtime. */
export interface InvokeMessage {
  readonly requestId: string;
  /** JSON. */
  readonly event: string;
  /** Milliseconds since the epoch at which the function's time is up. */
  readonly deadline: number;
}

/** From the runtime to the deployment; `payload` is JSON. */
export type RuntimeMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'result'; readonly requestId: string; readonly payload: string }
  | { readonly type: 'error'; readonly requestId: string | undefined; readonly error: FunctionError };

/** The line that ends an invocation's output, on both streams; Lambda writes the same one. */
export function endLine(requestId: string): string {
  return `END RequestId: ${requestId}`;
}
