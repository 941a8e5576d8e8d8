/** List prices with which docs/background.md, "What it costs", reckons, in US dollars: a test holds both equal. */
export const prices = {
  write: 0.005 / 1000,
  read: 0.0004 / 1000,
  lambdaGbSecond: 0.0000133,
  metricMonth: 0.3,
  alarmMonth: 0.1,
  dashboardMonth: 3,
  keyMonth: 1,
  secretMonth: 0.4,
} as const;

const hoursOfMonth = 730;

/** Memory of the functions, in GB. */
const memoryGb = 1.73;

/** What stands by the hour in a sandbox: metrics of runs and audits, alarms, dashboard, keys, the secret. */
const standing = { metrics: 15, alarms: 14, keys: 4 } as const;

const standingMonth =
  standing.metrics * prices.metricMonth +
  standing.alarms * prices.alarmMonth +
  prices.dashboardMonth +
  standing.keys * prices.keyMonth +
  prices.secretMonth;

/** What something uses, once. */
export interface Usage {
  readonly writes?: number;
  readonly reads?: number;
  readonly lambdaSeconds?: number;
}

/**
 * What something costs by those prices, in US dollars.
 * @param minutes how long the stack stands meanwhile
 */
export function dollarsOf({ writes = 0, reads = 0, lambdaSeconds = 0 }: Usage, minutes: number): number {
  const used = writes * prices.write + reads * prices.read + lambdaSeconds * memoryGb * prices.lambdaGbSecond;
  return used + (standingMonth / hoursOfMonth) * (minutes / 60);
}

export function inDollars(dollars: number): string {
  return `$${dollars.toFixed(3)}`;
}
