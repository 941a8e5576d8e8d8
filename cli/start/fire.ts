import type { FiredResult } from '../../local/deployment/deploy-locally';
import { MessageRefusedError } from '../../local/deployment/local-messages';
import { ScheduleError } from '../../local/deployment/schedule';

/** What became of a firing: the attempts, of all shards and oldest first, or what kept it from being delivered. */
export type Fired = Pick<FiredResult, 'attempts' | 'execution'> & { readonly refused: Error | undefined };

/** Fires a schedule. That it was not delivered is a result. */
export async function fire(schedule: () => Promise<FiredResult>): Promise<Fired> {
  try {
    return { ...(await schedule()), refused: undefined };
  } catch (error) {
    if (!(error instanceof MessageRefusedError || error instanceof ScheduleError)) throw error;
    return { attempts: [], refused: error };
  }
}
