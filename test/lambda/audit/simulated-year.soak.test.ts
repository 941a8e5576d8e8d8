import type { Configuration } from '../../../archive/format/configuration';
import type { AuditPlan } from '../../../archive/format/plan';
import { firingsOf } from '../../../archive/format/schedule/firings';
import { between, seededRandom } from '../../../local/demo-service/seeded-random';
import { invoke } from '../../archive/prove/history/invocation';
import { MemoryBucket } from '../../archive/prove/history/memory-bucket';
import { invokeAudit, TestKey } from './invoke-audit';
import { collection, damageIn, look } from './sealed-world';

const day = 86_400_000;
/** 365 are a year of 8,760 runs: `DAYS=365 npx jest --selectProjects soak simulated-year`. */
const days = Number(process.env.DAYS ?? 14);
const retentionDays = 10;
/** The clocks of Berlin are set back on 31 October. */
const begin = Date.UTC(2027, 9, 20);
const schedule = { expression: 'cron(0 * * * ? *)', timeZone: 'Europe/Berlin', enabled: true };
const auditSchedule = { expression: 'cron(30 6 * * ? *)', timeZone: 'Europe/Berlin', enabled: true };
const uids = Array.from({ length: 22 }, (_, at) => `c-${String(at).padStart(2, '0')}`);

const bucket = new MemoryBucket();
const random = seededRandom(`year ${days}`);
const key = new TestKey();
const counted = {
  runs: 0,
  incomplete: 0,
  killed: 0,
  deployed: 0,
  audits: 0,
  mails: 0,
  subjects: new Map<string, number>(),
};
let deployed: Configuration = { ...collection, schedule, retentionDays };

/** A run with the retries of its event. The service throttles some clusters for a while; an attempt may be killed. */
async function run(at: Date): Promise<void> {
  const isThrottled = random() < 0.05;
  counted.runs += 1;
  let start = at;
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const failing = new Set(uids.filter(() => isThrottled && random() < 0.6 / attempt));
    const killedAfter = attempt < 3 && random() < 0.02 ? between(random, 0, 60) : undefined;
    const event = { scheduledTime: at.toISOString() };
    const { outcome, end } = await invoke({ bucket, collection: deployed, event, start, failing, random, killedAfter });
    if (outcome === 'killed') counted.killed += 1;
    if (outcome === 'succeeded') return;
    start = new Date(end.getTime() + attempt * 60_000);
  }
  counted.incomplete += 1;
}

/** Somebody deploys another list of clusters about once in ten days. */
function deploy(): void {
  const left = between(random, 0, uids.length - 1);
  deployed = {
    ...deployed,
    clusters: uids
      .filter((_, at) => at !== left)
      .map((uid) => ({ uid }))
      .slice(0, 20),
  };
  counted.deployed += 1;
}

async function audit(at: Date): Promise<void> {
  for (const [name, { writtenAt }] of bucket.objects)
    if (/^(logs|manifests|runs)/.test(name) && at.getTime() - writtenAt.getTime() > (retentionDays + 1) * day)
      bucket.objects.delete(name);
  const plan: AuditPlan = { clusters: deployed.clusters, schedule, auditSchedule, retentionDays, rereadDays: 5 };
  const { result, mails } = await invokeAudit({ bucket, plan, key, start: at, time: at });
  expect([at, result?.damage, result?.found.absent]).toEqual([at, 0, undefined]);
  counted.audits += 1;
  counted.mails += mails.length;
  for (const { subject } of mails) {
    const said = subject.replace(/ \(.*/, '').replace(/\d+/g, 'n');
    counted.subjects.set(said, (counted.subjects.get(said) ?? 0) + 1);
  }
}

it(`${days} days of hourly runs of 20 clusters with throttles, kills, changed lists and the end of summer time have no damage`, async () => {
  deploy();
  const runs = firingsOf(schedule.expression, schedule.timeZone);
  const audits = firingsOf(auditSchedule.expression, auditSchedule.timeZone);
  for (let at = begin; at < begin + days * day; at += day) {
    const [from, to] = [new Date(at), new Date(at + day - 1)];
    const due = [...runs.between(from, to)].map((one) => ({ at: one.at, act: run }));
    const audited = [...audits.between(from, to)].map((one) => ({ at: one.at, act: audit }));
    if (random() < 0.1) deploy();
    for (const { at: time, act } of [...due, ...audited].sort((a, b) => a.at.getTime() - b.at.getTime()))
      await act(time);
  }
  expect(damageIn(await look(bucket, {}, new Date(begin + days * day)))).toEqual([]);
  // One mail a day, and each says how it is.
  expect([counted.audits, counted.mails]).toEqual([days, days]);
  if (process.env.DAYS !== undefined)
    process.stdout.write(`${JSON.stringify({ ...counted, subjects: [...counted.subjects] })}\n`);
}, 3_600_000);
