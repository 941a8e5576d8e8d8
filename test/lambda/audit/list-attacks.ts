import type { Configuration, ConfiguredCluster } from '../../../archive/format/configuration';
import type { AuditPlan } from '../../../archive/format/plan';
import { type InvocationOptions, type Invoked, invoke } from '../../archive/prove/history/invocation';
import { recordOf } from '../../support/record-text';
import type { Audited } from './invoke-audit';
import { collection, damageIn, look, plan, SealedWorld } from './sealed-world';

export const fleet = Array.from({ length: 12 }, (_, at) => `c-${String(at).padStart(2, '0')}`);
const whole: readonly ConfiguredCluster[] = fleet.map((uid) => ({ uid }));
const source = { from: 's3://inventory/clusters.json', leaveAfterDays: 3 };
const at = (day: number, hour: number) => `2026-11-${day}T${String(hour).padStart(2, '0')}:00:00.000Z`;

/** What a collector is deployed with. */
const deployments = {
  list: { ...collection, clusters: [], clusterList: { ...source, mostClusters: 24 } },
  clusters: { ...collection, clusters: whole },
} as const satisfies Record<string, Configuration>;

const plans: Readonly<Record<keyof typeof deployments, AuditPlan>> = {
  list: { ...plan, clusters: [], clusterList: source },
  clusters: { ...plan, clusters: whole },
};

/** One run of the second day: what the list says then, or what else somebody starts. */
type Run = readonly [list: unknown, more?: Partial<InvocationOptions>];

/** What somebody does who may write the list, or has the rights of the collector. */
export interface ListAttack {
  /** Where the clusters come from. */
  readonly from: keyof typeof deployments;
  /** The runs of the second day, six hours apart; what is not there ran as on the first. */
  readonly runs: readonly (Run | undefined)[];
}

/** What came of an attack. */
export interface ListAttacked {
  /** Clusters of the fleet that the last run did not collect. */
  readonly lost: readonly string[];
  readonly verified: readonly string[];
  readonly audited: readonly string[];
  /** What people get: the mail of the audit, and what runs ended with. */
  readonly said: string;
}

/** A day of honest runs, and one of the attack, each with its audit. */
export async function attackList({ from, runs }: ListAttack): Promise<ListAttacked> {
  const world = new SealedWorld();
  const attempt = (time: string, [list, more]: Run): Promise<Invoked> => {
    const text = typeof list === 'string' ? list : JSON.stringify(list);
    const event = { scheduledTime: time };
    const start = new Date(time);
    const common = { bucket: world.bucket, event, start, failing: new Set<string>(), random: () => 0.5 };
    return invoke({ ...common, collection: deployments[from], list: text, ...more });
  };
  const audit = (day: number): Promise<Audited> => world.audit(`2026-11-${day}T23:30:00.000Z`, { plan: plans[from] });
  for (const hour of [0, 6, 12, 18]) await attempt(at(20, hour), [fleet]);
  await audit(20);
  const ended: Invoked[] = [];
  for (const [index, hour] of [0, 6, 12, 18].entries()) ended.push(await attempt(at(21, hour), runs[index] ?? [fleet]));
  const { mails } = await audit(21);
  const [newest = ''] = world.bucket.keys('runs/').slice(-1);
  const collected = new Set(recordOf(world.bucket.objects.get(newest)?.body ?? '').outcomes.map((one) => one.cluster));
  return {
    lost: fleet.filter((uid) => !collected.has(uid)),
    verified: damageIn(await look(world.bucket, {}, new Date(at(22, 0)))),
    audited: damageIn(world.state(2).findings),
    said: [...mails.map(({ text }) => text), ...ended.flatMap(({ message }) => message ?? [])].join('\n'),
  };
}

const strangers = (count: number, of = 's') =>
  Array.from({ length: count }, (_, index) => ({ uid: `${of}-${index}`, optional: true }));
const few = fleet.slice(6);

/** By the words of the table in docs/proof.md, in its order. */
export const listAttacks: Readonly<Record<string, ListAttack>> = {
  'writer: takes a tenth away in each run, and adds twice as many that do not exist': {
    from: 'list',
    runs: [1, 2, 3, 4].map((gone) => [[...fleet.slice(gone), ...strangers(2 * gone)]]),
  },
  'writer: adds many that do not exist, and then takes all others away at once': {
    from: 'list',
    runs: [[[...fleet, ...strangers(12)]], ...[1, 2, 3].map((): Run => [strangers(12)])],
  },
  'writer: takes half of them away, and puts them back before the audit': {
    from: 'list',
    runs: [undefined, [few], [few]],
  },
  'writer: replaces everybody by as many as a run can finish, again and again': {
    from: 'list',
    runs: ['p', 'q', 'r', 's'].map((of) => [strangers(24, of)]),
  },
  'writer: a list of half a million wrong entries': { from: 'list', runs: [[`[${'0,'.repeat(500_000)}0]`]] },
  'writer: a line end in a uid': { from: 'list', runs: [[[...fleet, 'c-12\nc-13']]] },
  'role: a run of half of them, as if they were deployed': {
    from: 'list',
    runs: [undefined, undefined, undefined, [[], { collection: { ...collection, clusters: whole.slice(6) } }]],
  },
  'role: the same where they are deployed': {
    from: 'clusters',
    runs: [undefined, undefined, undefined, [[], { collection: { ...collection, clusters: whole.slice(6) } }]],
  },
  'role: a run of one of them, by hand, at the time of the schedule': {
    from: 'clusters',
    runs: [undefined, undefined, [[], { event: { scheduledTime: at(21, 12), clusters: ['c-00'] } }]],
  },
};
