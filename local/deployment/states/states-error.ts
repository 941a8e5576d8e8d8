/** An error within an execution, by the name that retries and catches know it by. */
export class StatesError extends Error {
  override readonly name = 'StatesError';

  /**
   * @param error such as `States.Runtime`
   * @param stateCause what Step Functions shows as the cause
   */
  constructor(
    readonly error: string,
    readonly stateCause: string,
  ) {
    super(`${error}: ${stateCause}`);
  }

  /** Whether an `ErrorEquals` names it. The interpreter's own errors are never retried or caught by States.ALL. */
  isOneOf(names: readonly string[]): boolean {
    return names.includes(this.error) || (names.includes('States.ALL') && this.error !== 'States.Runtime');
  }
}
