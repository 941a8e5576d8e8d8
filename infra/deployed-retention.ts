import type { Stack } from '@aws-sdk/client-cloudformation';
import { runsPrefix } from '../archive/format/keys';
import { resourceNames, resources } from '../archive/format/resources';

/** What is collected in every run. It may expire; configurations and seals must not, because they explain the rest. */
export const runPrefixes = [...resourceNames.map((name) => `${resources[name].folder}/`), runsPrefix];

/** Name of the output that says how long the archive is kept. */
export const retentionOutput = 'RetentionDays';

/** The value of this output. @param days undefined: nothing expires */
export function retentionText(days: number | undefined): string {
  return days === undefined ? 'never' : String(days);
}

/**
 * @param place of the collector in the stack
 * @returns days after which the archive of a deployed stack expires, Infinity if nothing does; undefined: the stack does not say
 */
export function retentionIn(stack: Pick<Stack, 'Outputs'> | undefined, place = ''): number | undefined {
  const text = stack?.Outputs?.find(({ OutputKey }) => OutputKey === `${place}${retentionOutput}`)?.OutputValue;
  if (text === retentionText(undefined)) return Number.POSITIVE_INFINITY;
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
