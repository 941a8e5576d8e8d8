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

const runsSchema = z.array(z.looseObject({ run: z.string(), status: z.string(), trigger: z.optional(z.string()) }));

/** The newest runs, each with its status. */
async function runsIn(sandbox: Sandbox, archive: string, example: z.input<typeof runsSchema>) {
  const args = ['runs', '--archive', archive, '--last', '5', '--json'];
  // 1: a run is overdue or incomplete, which is no matter here. 3: there is none yet.
  const { code, out } = await collector(sandbox, args, { codes: [0, 1, 3], out: JSON.stringify(example) });
  return code === 3 ? [] : runsSchema.parse(JSON.parse(out));
}

/** Starts a run and follows it. @param codes how the command may end @returns what it printed */
async function runNow(sandbox: Sandbox, codes: readonly number[], out: string): Promise<string> {
  const args = ['run', '--stack', sandbox.name, '--region', sandbox.region];
  return (await collector(sandbox, args, { codes, out })).out;
}

const oneRun = { writes: 8, reads: 4, lambdaSeconds: 6 };
const threeAttempts = { writes: 12, reads: 12, lambdaSeconds: 18 };

/** How many seals there are. */
async function sealsIn(sandbox: Sandbox, archive: string, example: number): Promise<number> {
  const out = JSON.stringify(Array.from({ length: example }, () => ({})));
  const { code, out: found } = await collector(sandbox, ['verify', '--archive', archive, '--seals', '--json'], {
    ...{ codes: [0, 1, 3], out },
  });
  return code === 3 ? 0 : z.array(z.looseObject({})).parse(JSON.parse(found)).length;
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
      await runNow(sandbox, [0], '');
      return `a run archived both resources of ${clusters.length} clusters`;
    },
  },
  {
    name: 'run of the schedule',
    minutes: 11,
    usage: oneRun,
    work: async (sandbox) => {
      const archive = await archiveOf(sandbox);
      const example = [{ run: 'TIME', status: 'complete', trigger: 'schedule' }];
      const { run } = await until(sandbox.shell, 'a run of the schedule', 15, async () =>
        (await runsIn(sandbox, archive, example)).find(
          ({ trigger, status }) => trigger === 'schedule' && status === 'complete',
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
      const refusal = 'expected at least one cluster';
      try {
        await putList(sandbox, []);
        const out = await runNow(sandbox, [0, 1], refusal);
        if (!out.includes(refusal)) throw new CommandError('The run does not say that the list was refused');
      } finally {
        await putList(sandbox, clusters);
      }
      await runNow(sandbox, [0], '');
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
