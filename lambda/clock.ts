/** Time and chance as the core sees them, so that its tests need neither. */
export interface Clock {
  now(): Date;
  /** Milliseconds of a clock that never goes back. */
  monotonicMs(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}
