import type { Position, Seal } from '../verify/seals/seal';
import { dayMs } from '../verify/time-limits';
import { type CheckOpenContext, checkRun } from './check-open';
import type { LogSeams } from './log-seams';
import type { SealedRuns } from './seal-runs';
import { type VerifySealedOptions, verifySealed } from './verify-sealed';

/** What was read, and where the next audit goes on, as a seal has it. */
export interface VerifiedInTurn extends Pick<Seal, 'verified'> {
  readonly cursor: Pick<Seal['cursor'], 'verified' | 'reread'>;
}

/**
 * Reads the objects of new records first, and old content again with what time is left.
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function verifyInTurn(
  walk: CheckOpenContext,
  current: VerifySealedOptions['current'],
  runs: Pick<SealedRuns, 'toVerify' | 'carriedOver'>,
  logs: LogSeams,
): Promise<VerifiedInTurn> {
  const { chain, plan, now } = walk;
  const { head: before } = chain;
  const { rereadDays } = plan;
  const { number } = current;
  const news = await verifySealed(walk, { current, logs }, before?.cursor.verified ?? start, number);
  const last = before?.cursor.reread ?? { position: null, since: now };
  const isReread = rereadDays !== undefined || last.position !== null;
  const pass = isReread ? passOf(last, now, rereadDays) : undefined;
  const verifyRun = async (run: Date) => void (await checkRun(walk, run, []));
  const old =
    pass?.position && news.isDone
      ? await verifySealed(walk, { current, verifyRun }, pass.position, number - 1)
      : undefined;
  const position = old?.isDone ? null : (old?.position ?? pass?.position ?? null);
  const carriedOver = news.isDone ? 0 : (before?.verified.carriedOver ?? 0) + runs.toVerify - news.objects;
  return {
    verified: {
      objects: news.objects + (old?.objects ?? 0),
      bytes: news.bytes + (old?.bytes ?? 0),
      carriedOver: Math.max(0, carriedOver),
      carriedOverRecords: runs.carriedOver,
    },
    cursor: { verified: news.position, reread: pass && { position, since: pass.since } },
  };
}

/** Where everything is still to be read. */
export const start: Position = { seal: 1, record: 0, outcome: 0 };

/** Goes on with a pass over old content, or begins the next once the last one is old enough. */
function passOf(
  { position, since }: { readonly position: Position | null; readonly since: Date | string },
  now: Date,
  rereadDays = Number.POSITIVE_INFINITY,
): { readonly position: Position | null; readonly since: string } {
  const began = new Date(since);
  const isNext = position === null && now.getTime() - began.getTime() >= rereadDays * dayMs;
  return isNext ? { position: start, since: now.toISOString() } : { position, since: began.toISOString() };
}
