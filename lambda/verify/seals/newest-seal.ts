import { CronError } from '../../schedule/cron';
import { firingsOfSchedule } from '../../schedule/firings';
import type { ArchiveReader } from '../archive-reader';
import type { UsedSchedule } from '../seen-run';
import type { Seal } from './seal';
import { listSeals, parseSeal, readSealFile } from './seal-file';

/** Seals that are read at most to find one that is right. */
const mostRead = 5;

/** When runs are due, as a seal says it, and in how many shards. */
export interface SealedPlan extends UsedSchedule {
  readonly shards: number;
}

/**
 * The newest right seal, by the key that signed the first: it says what is due and what is damaged, and proves nothing.
 * Undefined if there is none.
 * @throws ArchiveReadError
 */
export async function newestSeal(reader: ArchiveReader): Promise<Seal | undefined> {
  const numbers = await listSeals(reader, () => undefined);
  const [first] = numbers;
  if (first === undefined) return undefined;
  const { signed: trusted } = await readSealFile(reader, first);
  for (const number of numbers.reverse().slice(0, mostRead)) {
    const { signed } = await readSealFile(reader, number);
    if (signed === undefined || signed.publicKey !== trusted?.publicKey) continue;
    const seal = parseSeal(signed.bytes);
    if (typeof seal !== 'string' && seal.number === number) return seal;
  }
  return undefined;
}

/** The plan of a seal; undefined if its schedule cannot be read, which `verify` says. */
export function planOf({ plan, listedFrom }: Pick<Seal, 'plan' | 'listedFrom'>): SealedPlan | undefined {
  try {
    return { firings: firingsOfSchedule(plan.schedule), usedAt: new Date(listedFrom), shards: plan.shards ?? 1 };
  } catch (error) {
    if (error instanceof CronError) return undefined;
    throw error;
  }
}
