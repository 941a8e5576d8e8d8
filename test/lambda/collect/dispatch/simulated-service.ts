import { InvalidBodyError, NotDecodableError } from '../../../../lambda/collect/body/body-check';
import { ServiceError } from '../../../../lambda/collect/service/service-error';

/** Time limits of the real client, in milliseconds. */
export const limits = { connectMs: 10_000, responseMs: 60_000 } as const;

/** How one request goes, in milliseconds after its start. */
export interface Reply {
  /** When the answer's head arrives; Infinity: never. */
  readonly headMs: number;
  readonly status: number;
  /** When the request is over, unless it is cancelled; Infinity: never. */
  readonly endMs: number;
  /** Bytes of the body per second. */
  readonly bytesPerSecond: number;
  /** Undefined: a good answer. */
  readonly error?: Error;
}

/** How a cluster x resource answers: its nth request over all attempts, from 1. */
export type Behaviour = (nth: number) => Reply;

const mebibyte = 1024 * 1024;

export function good(latencyMs: number, bodyMs = 5): Reply {
  return { headMs: latencyMs, status: 200, endMs: latencyMs + bodyMs, bytesPerSecond: mebibyte };
}

export function status(code: number, latencyMs = 30, retryAfterMs?: number): Reply {
  const error = new ServiceError(`status ${code}`, 'status', { status: code, retryAfterMs });
  return { headMs: latencyMs, status: code, endMs: latencyMs, bytesPerSecond: 0, error };
}

function unanswered(endMs: number, failure: 'connection' | 'timeout' | 'unusable'): Reply {
  const error = new ServiceError(`no answer (${failure})`, failure);
  return { headMs: Number.POSITIVE_INFINITY, status: 0, endMs, bytesPerSecond: 0, error };
}

export const refused = () => unanswered(2, 'connection');
export const reset = () => unanswered(40, 'connection');
export const unreachable = () => unanswered(limits.connectMs, 'timeout');
export const hanging = () => unanswered(limits.responseMs, 'timeout');
export const untrusted = () => unanswered(20, 'unusable');

/** A body that stays just alive for the client: 1 KB in 30 seconds. */
export const trickling = (): Reply => ({
  headMs: 50,
  status: 200,
  endMs: Number.POSITIVE_INFINITY,
  bytesPerSecond: 1024 / 30,
});

export const cut = (): Reply => ({
  ...good(30),
  error: new ServiceError('its body was cut short', 'cut', { status: 200 }),
});
export const invalid = (): Reply => ({ ...good(30), error: new InvalidBodyError('no record') });
export const notDecodable = (): Reply => ({ ...good(30), error: new NotDecodableError('no JSON') });

/** What becomes of an answer at a time when something is wrong with the whole service. */
export type Disturbance = (reply: Reply, nowMs: number) => Reply;

/** The key that the secret has, and keys that the service accepts, at a time. */
export interface Keys {
  secret(nowMs: number): string | Error;
  isValid(key: string, nowMs: number): boolean;
}

export const steadyKeys: Keys = { secret: () => 'key', isValid: () => true };
