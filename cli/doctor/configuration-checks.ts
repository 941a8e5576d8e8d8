import { dayMs } from '../../archive/format/clocks';
import { type Gap, longestGap } from '../../archive/format/schedule/cron-gap';
import { firingsOf } from '../../archive/format/schedule/firings';
import { describeUnknownRegion } from '../../archive/read';
import { missingWindowHours } from '../../infra/alarm-windows';
import type { CollectorConfig } from '../../infra/config/config';
import { isExampleAddress, isOwnMachine } from '../../infra/config/schema-values';
import { describeOverlap } from '../../infra/limits';
import { runMarginHours } from '../../lambda/time-limits';
import { formatCount, formatTime } from '../terminal/format';
import { type Check, right, type Shown, worthKnowing, wrong } from './check';

type Schedule = CollectorConfig['schedule'];
type Scheduled = Pick<CollectorConfig, 'schedule' | 'shards' | 'limits'>;

/** The checks that need nothing but the configuration. */
export function configurationChecks(file: string, config: CollectorConfig, now: Date): Check[] {
  return [
    { what: 'configuration', ...configuration(file, config) },
    ...scheduleChecks(config, now),
    { what: 'recipients', ...recipients(config) },
  ];
}

/** The region that is deployed to, if this version does not know it: one that came later is not wrong. */
export async function regionChecks({ deployTo }: Pick<CollectorConfig, 'deployTo'>): Promise<Check[]> {
  const unknown = deployTo && (await describeUnknownRegion(deployTo.region));
  if (unknown === undefined) return [];
  return [{ what: 'region', ...worthKnowing(unknown, 'set deployTo.region to it, if it is misspelt') }];
}

function configuration(file: string, { name, clusters, clusterList, service, shards }: CollectorConfig): Shown {
  const inShards = shards === 1 ? '' : ` in ${shards} shards`;
  const which =
    clusterList === undefined ? formatCount(clusters.length, 'cluster') : `clusters from ${clusterList.from}`;
  const found = `${file}: stack ${name}, ${which}${inShards}, service ${service.baseUrl}`;
  if (isOwnMachine(service.baseUrl))
    return worthKnowing(
      `${found}: no function in AWS reaches this machine`,
      'set service.baseUrl to an address that the function reaches: this one is on this machine',
    );
  if (!isExampleAddress(service.baseUrl)) return right(found);
  return worthKnowing(`${found}, which is an example`, 'set service.baseUrl to the address of your service');
}

function recipients({ alerts }: CollectorConfig): Shown {
  const { page, inform = page } = alerts;
  const [woken, informed] = [page, inform].map(({ topicArn, emails }) =>
    topicArn === undefined ? emails.join(', ') : `the existing topic ${topicArn}`,
  );
  if (woken && informed)
    return right(inform === page ? `messages go to ${woken}` : `messages go to ${woken}, the others to ${informed}`);
  return worthKnowing(
    'nobody gets alarms and failed runs',
    'set alerts.page.emails or alerts.page.topicArn and deploy, or subscribe to the topic of the output AlertTopic',
  );
}

/** How many of the next firings are named. */
const namedFirings = 3;

/** When the next runs are due, and how soon one that is missing is noticed. */
export function scheduleChecks(config: Scheduled, now: Date): Check[] {
  const next = { what: 'schedule', ...nextRuns(config.schedule, now) };
  if (next.verdict !== 'right' || next.act !== undefined) return [next];
  const gap = longestGap(config.schedule.expression, config.schedule.timeZone, now);
  const overlap = describeOverlap(config, gap.shortestHours);
  const checks = [next, { what: 'missing runs', ...missingAlarm(config, gap) }];
  if (overlap === undefined) return checks;
  const act = 'set limits.oneRunAtATime, which lets one wait for the other, or a longer schedule';
  return [...checks, { what: 'overlap', ...worthKnowing(overlap, act) }];
}

function nextRuns({ expression, timeZone, enabled }: Schedule, now: Date): Shown {
  if (!enabled)
    return worthKnowing('it is disabled: nothing runs by itself', 'set schedule.enabled to true and deploy');
  const firings = firingsOf(expression, timeZone);
  const next: Date[] = [];
  // A run in the current minute may be under way already.
  for (const { at } of firings.between(new Date(now.getTime() + 1), new Date(now.getTime() + 366 * dayMs))) {
    next.push(at);
    if (next.length === namedFirings) break;
  }
  if (next.length === 0) return wrong('nothing is due within a year', `look at schedule.expression, ${expression}`);
  const isUtc = /^(Etc\/)?UTC$/.test(timeZone);
  const times = next
    .map((time) => (isUtc ? formatTime(time) : `${wallClock(time, timeZone)} (${formatTime(time)})`))
    .join(', ');
  return right(`next runs, ${timeZone}: ${times}`);
}

/** How long it takes until the alarm about a missing run comes. Clock changes make it longer than one expects. */
function missingAlarm(config: Scheduled, gap: Gap): Shown {
  const hours = missingWindowHours(gap, runMarginHours(config.shards, config.limits.oneRunAtATime));
  const pause = gap.hours < 1 ? `${Math.round(gap.hours * 60)} min` : `${Math.round(gap.hours * 10) / 10} h`;
  const longest = `the longest pause of the schedule is ${pause}, from ${formatTime(gap.from)}`;
  if (hours === undefined)
    return worthKnowing(`no alarm can watch for them: ${longest}`, 'watch "Outcomes per run" on the dashboard');
  return right(`the alarm "Run missing" comes after ${hours} h without a run: ${longest}`);
}

/** `2026-11-20 02:30`. */
function wallClock(time: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(time);
}
