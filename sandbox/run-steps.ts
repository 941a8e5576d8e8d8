import * as z from 'zod';
import { until } from './aws';
import { clusters } from './clusters';
import { putList } from './deploy-steps';
import { CommandError } from './shell';
import { collector, type Sandbox, type Step } from './step';

/** Invokes a function of the stack as a deployment's outputs say: nobody waits for the answer. */
async function invoke({ aws, shell, name }: Sandbox, start: string, event: object): Promise<void> {
  const target = await aws.idOf(name, 'AWS::Lambda::Function', start);
  const payload = shell.write('event.json', JSON.stringify(event));
  const input = ['--invocation-type', 'Event', '--payload', `fileb://${payload}`];
  await aws.do(['lambda', 'invoke', '--function-name', target, ...input, shell.write('answer.json', '')]);
}

async function archiveOf({ aws, name }: Sandbox): Promise<string> {
  return `s3://${(await aws.outputsOf(name)).ArchiveBucket}`;
}

const listSchema = z.looseObject({ read: z.looseObject({ problem: z.optional(z.string()) }) });
const runsSchema = z.array(z.looseObject({ run: z.string(), status: z.string(), clusters: z.optional(listSchema) }));

/** A run is named by its time: those of the schedule begin every ten minutes, and nobody types to the millisecond. */
const ofSchedule = /T\d\d:\d0:00\.000Z$/;

/** The newest runs, each with its status. */
async function runsIn(sandbox: Sandbox, archive: string, example: z.input<typeof runsSchema>) {
  const args = ['runs', '--archive', archive, '--last', '5', '--json'];
  // 1: a run is overdue, which does not matter here.
  const { out } = await collector(sandbox, args, { codes: [0, 1], out: JSON.stringify(example) });
  return runsSchema.parse(JSON.parse(out));
}

/** Starts a run and follows it until it is complete. */
async function runNow(sandbox: Sandbox): Promise<void> {
  await collector(sandbox, ['run', '--stack', sandbox.name, '--region', sandbox.region]);
}

const oneRun = { writes: 8, reads: 4, lambdaSeconds: 6 };
const threeAttempts = { writes: 12, reads: 12, lambdaSeconds: 18 };

/** How many seals there are. */
async function sealsIn(sandbox: Sandbox, archive: string, example: number): Promise<number> {
  const out = JSON.stringify(Array.from({ length: example }, () => ({})));
  const args = ['verify', '--archive', archive, '--seals', '--json'];
  const { out: found } = await collector(sandbox, args, { codes: [0, 1], out });
  return z.array(z.looseObject({})).parse(JSON.parse(found)).length;
}

/** Audits, waits for one more seal, and verifies all of the archive. @param before seals in a dry run */
export async function auditNow(sandbox: Sandbox, before: number): Promise<string> {
  const archive = await archiveOf(sandbox);
  const known = await sealsIn(sandbox, archive, before);
  await invoke(sandbox, 'AuditFunction', {});
  const seals = await until(sandbox.shell, 'a seal', 20, async () => {
    const now = await sealsIn(sandbox, archive, before + 1);
    return now > known ? now : undefined;
  });
  await collector(sandbox, ['verify', '--archive', archive]);
  return `seal ${seals} is stored and signed, and verify finds nothing wrong`;
}

export const runSteps: readonly Step[] = [
  {
    name: 'run by hand',
    minutes: 2,
    usage: oneRun,
    work: async (sandbox) => {
      await runNow(sandbox);
      return `a run archived both resources of ${clusters.length} clusters`;
    },
  },
  {
    name: 'run of the schedule',
    minutes: 11,
    usage: oneRun,
    work: async (sandbox) => {
      const archive = await archiveOf(sandbox);
      const example = [{ run: '2026-11-20T10:00:00.000Z', status: 'complete' }];
      const { run } = await until(sandbox.shell, 'a run of the schedule', 15, async () =>
        (await runsIn(sandbox, archive, example)).find(
          ({ run, status }) => ofSchedule.test(run) && status === 'complete',
        ),
      );
      return `the schedule fired, and the run ${run} is complete`;
    },
  },
  {
    name: 'seal',
    minutes: 3,
    usage: { writes: 30, reads: 60, lambdaSeconds: 20 },
    work: (sandbox) => auditNow(sandbox, 0),
  },
  {
    name: 'refused list',
    minutes: 6,
    usage: threeAttempts,
    work: async (sandbox) => {
      const archive = await archiveOf(sandbox);
      const problem = 'expected at least one cluster';
      const example = [{ run: 'TIME', status: 'complete', clusters: { read: { problem } } }];
      try {
        await putList(sandbox, []);
        // All that was collected before is collected, so that the run is complete; only then the function fails.
        await runNow(sandbox);
        const told = (await runsIn(sandbox, archive, example)).some(({ clusters }) =>
          clusters?.read.problem?.includes(problem),
        );
        if (!told) throw new CommandError('No run says that the list was refused');
      } finally {
        await putList(sandbox, clusters);
      }
      await runNow(sandbox);
      return 'an empty list replaced nothing and was told; with the list brought back a run is complete';
    },
  },
  {
    name: 'killed attempt',
    minutes: 5,
    usage: threeAttempts,
    work: async (sandbox) => {
      const { aws, shell, name } = sandbox;
      const archive = await archiveOf(sandbox);
      const target = await aws.idOf(name, 'AWS::Lambda::Function', 'CollectorFunction');
      const logs = await aws.idOf(name, 'AWS::Logs::LogGroup', 'CollectorLogs');
      const about = ['--function-name', target];
      const asking = ['lambda', 'get-function-configuration', ...about];
      const { Timeout } = await aws.ask(asking, z.looseObject({ Timeout: z.number() }), { Timeout: 900 });
      const limitTo = async (seconds: number) => {
        await aws.do(['lambda', 'update-function-configuration', ...about, '--timeout', String(seconds)]);
        await aws.do(['lambda', 'wait', 'function-updated', ...about]);
      };
      const newRun = new Date().toISOString();
      const events = z.looseObject({ events: z.array(z.looseObject({})) });
      const reading = ['logs', 'filter-log-events', '--log-group-name', logs, '--filter-pattern', 'timeout'];
      const since = ['--start-time', String(Date.parse(newRun))];
      try {
        await limitTo(1);
        await invoke(sandbox, 'CollectorFunction', { newRun });
        // Lambda tries again after a minute: the limit has to be back by then.
        await until(shell, 'the end of an attempt that was killed', 3, async () => {
          const found = await aws.ask([...reading, ...since], events, { events: [{}] });
          return found.events.length > 0 ? found : undefined;
        });
      } finally {
        await limitTo(Timeout);
      }
      await until(shell, 'the retry', 8, async () =>
        (await runsIn(sandbox, archive, [{ run: newRun, status: 'complete' }])).find(
          ({ run, status }) => run === newRun && status === 'complete',
        ),
      );
      return `Lambda killed an attempt of the run ${newRun}, and its retry completed it`;
    },
  },
];
