import { type DeployedCollector, useLocalCollector } from '../../end-to-end/local-collector';
import { runCollector } from '../run-collector';
import { type ControlPlane, startControlPlane } from '../stack/control-plane';

const noon = new Date('2026-11-20T12:00:00Z');
const now = new Date('2026-11-20T15:00:00.123Z');

describe.each([
  ['the function', 1],
  ['the state machine', 2],
])('collector run, with %s', (_, shards) => {
  const collector = useLocalCollector({ clusters: ['alpha', 'beta', 'gamma'], shards });
  let deployed: DeployedCollector;
  let plane: ControlPlane;
  let interruption: AbortController;

  beforeEach(async () => {
    deployed = await collector.deploy();
    plane = await startControlPlane(deployed);
    interruption = new AbortController();
  });
  afterEach(() => plane.close());

  const run = (...args: string[]) =>
    runCollector(
      ['run', '--stack', 'my-collector', ...args],
      { now },
      {
        environment: {},
        interruption: () => interruption.signal,
        // The run goes on while the command waits; then the command looks again.
        wait: async (_milliseconds, signal) => {
          await plane.settled();
          signal.throwIfAborted();
        },
      },
    );

  it('starts a run under a name that its retries keep, and shows its outcomes', async () => {
    const { code, out, err } = await run();
    expect(plane.events).toEqual([{ newRun: '2026-11-20T15:00:00.123Z' }]);
    expect(err).toMatch(/^Started run 2026-11-20T15:00:00\.123Z of my-collector$/m);
    expect(out).toMatch(/^Run 2026-11-20T15:00:00\.123Z: complete after 1 attempt, worked .*; 6 of 6 archived/);
    expect(out).toMatch(/│ alpha +│ log +│ archived/);
    expect(code).toBe(0);
  });

  it('refuses a run that is more than two hours ahead of the archive', async () => {
    const ahead = new Date(Date.now() + 3 * 3_600_000);
    const { code, err } = await runCollector(
      ['run', '--stack', 'my-collector'],
      { now: ahead },
      { environment: {}, interruption: () => interruption.signal, wait: async () => undefined },
    );
    expect(err).toMatch(/Starting run \S+ failed: S3's clock says \S+, more than two hours earlier; set the clock/);
    expect(code).toBe(3);
    expect(plane.events).toEqual([]);
  });

  it('says of a run that stays incomplete why, and the command that completes it, which does', async () => {
    collector.failing.beta = 'not-found';
    const failed = await run();
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(/incomplete after 3 attempts, worked .*; 4 of 6 archived, 2 failed/);
    expect(failed.out).toContain('\n2 failed, one reason: 404 Not Found\n');
    const command = /npm run collector -- run (.*)$/m.exec(failed.out)?.[1] ?? '';
    expect(command).toBe('--stack my-collector --region eu-central-1 --run 2026-11-20T15:00:00.123Z');
    delete collector.failing.beta;
    const completed = await run(...command.split(' ').slice(2), '--json');
    expect(plane.events.at(-1)).toEqual({ run: '2026-11-20T15:00:00.123Z' });
    expect(JSON.parse(completed.out)).toMatchObject({ status: 'complete', counts: { archived: 6 } });
    expect(completed.code).toBe(0);
  });

  it('passes clusters and request id on, and makes up for a run without a record', async () => {
    await run('--clusters', 'alpha,beta', '--request-id', 'r-1', '--run', noon.toISOString(), '--without-record');
    const scheduledTime = '2026-11-20T12:00:00.000Z';
    expect(plane.events).toEqual([{ scheduledTime, clusters: ['alpha', 'beta'], requestId: 'r-1' }]);
  });

  it('waits for the answer of a dry run, which writes nothing', async () => {
    const { code, out } = await run('--dry-run');
    expect(out).toBe('Dry run, nothing was written: 6 would be archived, nothing failed\n');
    expect(code).toBe(0);
    collector.failing.beta = 'not-found';
    const failed = await run('--dry-run');
    expect(failed.out).toMatch(
      /^Dry run 2026\S+ is incomplete \(2 of 6 not archived\)[\s\S]*one reason: 404 Not Found/,
    );
    expect(failed.code).toBe(1);
    expect(plane.calls).toContain('lambda:Invoke RequestResponse');
  });

  it('says at Ctrl-C which run goes on, and how to see what becomes of it', async () => {
    interruption.abort(new Error('interrupted by SIGINT'));
    collector.failing.beta = 'not-found';
    const { code, err } = await run();
    expect(err).toContain(
      `Run 2026-11-20T15:00:00.123Z goes on in AWS, with its retries. See what becomes of it with\n  npm run collector -- runs 2026-11-20T15:00:00.123Z --archive s3://${deployed.bucket}`,
    );
    expect(code).toBe(130);
  });

  describe('--incomplete', () => {
    /** Runs of 11:00 to 14:00, but 13:00: beta is missing in all of them, alpha in those that are named. */
    async function fourHours(...withoutAlpha: number[]) {
      for (const at of [11, 12, 14]) {
        collector.failing.beta = 'not-found';
        delete collector.failing.alpha;
        if (withoutAlpha.includes(at)) collector.failing.alpha = 'not-found';
        await deployed.fireSchedule(new Date(`2026-11-20T${at}:00:00Z`));
      }
      delete collector.failing.alpha;
      delete collector.failing.beta;
      (plane.events as unknown[]).splice(0);
    }

    it('completes the runs of a period, the oldest first, and says what it is that they get', async () => {
      await fourHours(12);
      const { code, out, err } = await run('--incomplete', '--from', '2026-11-20T11:30', '--to', '2026-11-20T13:30');
      expect(plane.events).toEqual([{ run: '2026-11-20T12:00:00.000Z' }]);
      expect(err).toMatch(/^Looked at the run 2026-11-20T12:00:00Z: 1 can be completed\.$/m);
      expect(err).toContain("today's log under yesterday's time");
      expect(out).toMatch(/^Run 2026-11-20T12:00:00Z: complete after \d attempts, worked .*; 6 of 6 archived/);
      expect(code).toBe(0);
      const all = await run('--incomplete', '--since', '2026-11-20', '--json');
      const times = [11, 14].map((at) => `2026-11-20T${at}:00:00.000Z`);
      expect(plane.events.slice(1)).toEqual(times.map((time) => ({ run: time })));
      expect(JSON.parse(all.out)).toMatchObject(times.map((time) => ({ run: time, status: 'complete' })));
      // The run of 13:00 is not complete, and was not touched.
      expect(all.err).toContain('Left alone: 1 scheduled run left no record: 2026-11-20T13:00:00Z.');
      expect(all.code).toBe(1);
      const whole = await run('--incomplete', '--from', '2026-11-20', '--to', '2026-11-20T12:30');
      expect(whole).toMatchObject({
        code: 0,
        out: '',
        err: expect.stringMatching(/^Looked at 2 runs .*: all are complete\.\n$/),
      });
    });

    it('goes on behind a run that stays incomplete, and names the command for it', async () => {
      await fourHours();
      collector.failing.beta = 'not-found';
      const { code, out } = await run('--incomplete', '--from', '2026-11-20T12:00', '--clusters', 'beta');
      expect(plane.events).toEqual([12, 14].map((at) => ({ run: `2026-11-20T${at}:00:00.000Z`, clusters: ['beta'] })));
      expect(
        out.match(
          /^Run .*: incomplete after \d attempts.*\n2 failed, one reason: 404 Not Found\nComplete it with\n {2}npm run collector -- run --stack my-collector --region eu-central-1 --run 2026-11-20T1[24]:00:00.000Z$/gm,
        ),
      ).toHaveLength(2);
      expect(code).toBe(1);
    });

    it('ends when the start has archived what it was about, and says that the run lacks other clusters', async () => {
      await fourHours(12);
      const { code, out } = await run(
        '--incomplete',
        '--from',
        '2026-11-20T12:00',
        '--to',
        '2026-11-20T12:00',
        '--clusters',
        'beta',
      );
      expect(out).toMatch(/^Run \S+: incomplete after \d attempts, .*; 4 of 6 archived, 2 failed/);
      expect(out).toContain('archived all that it was about. What is missing is of clusters that it did not cover');
      expect(out).not.toContain('Complete it with');
      expect(code).toBe(1);
    });

    it('leaves a run alone that AWS may still retry', async () => {
      collector.failing.beta = 'not-found';
      const recent = new Date(Date.now() - 60_000);
      await deployed.invoke({ newRun: recent.toISOString() });
      const { code, out, err } = await run('--incomplete', '--from', recent.toISOString());
      expect(err).toContain(`Left alone: ${recent.toISOString()} may still be retried by AWS.`);
      expect([code, out, plane.events]).toEqual([1, '', []]);
    });

    it('says at Ctrl-C how many runs are not begun', async () => {
      await fourHours();
      interruption.abort(new Error('interrupted by SIGINT'));
      const { code, err } = await run('--incomplete', '--from', '2026-11-20');
      expect(err).toContain('Not begun: 3 runs of this period; the same command goes on with what is incomplete then');
      expect([code, plane.events]).toEqual([130, []]);
    });
  });

  // What comes before the start, and what the function itself says, is the same for both.
  if (shards > 1) return;

  it('warns of a cluster that the newest run did not know, because the function would refuse it', async () => {
    await deployed.fireSchedule(noon);
    const { err } = await run('--clusters', 'alpha,omega', '--dry-run');
    expect(err).not.toContain('omega');
    interruption.abort(new Error('interrupted by SIGINT'));
    const started = await run('--clusters', 'alpha,omega');
    expect(started.err).toContain('The configuration of the newest run does not have omega: unless');
  });

  it('refuses a run that is not there, names the nearest, and starts nothing', async () => {
    await deployed.fireSchedule(noon);
    const { code, err } = await run('--run', '2026-11-20T12:01');
    expect(err).toContain('the nearest: 2026-11-20T12:00:00Z');
    expect(code).toBe(3);
    expect(plane.events).toEqual([]);
  });

  it.each([
    [['--incomplete'], '--incomplete without --from'],
    [['--from', 'yesterday'], '--from or --to without --incomplete'],
    [['--incomplete', '--from', 'yesterday', '--run', '2026-11-20T12:00'], "'--incomplete' cannot be used with"],
    [['--incomplete', '--from', 'yesterday', '--dry-run'], "'--incomplete' cannot be used with"],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await run(...args);
    expect(err).toContain(message);
    expect([code, plane.calls]).toEqual([2, []]);
  });

  it('names a stack that is not there with what to check', async () => {
    const { code, err } = await runCollector(['run', '--stack', 'other']);
    expect(err).toContain('Finding the stack other failed: region eu-central-1 of this account has none; check');
    expect(code).toBe(3);
  });

  it('the error of the function names the command that completes the run, with the name of the stack', async () => {
    collector.failing.alpha = 'not-found';
    const { attempts } = await deployed.fireSchedule(noon);
    const command = 'npm run collector -- run --stack end-to-end --region eu-central-1 --run 2026-11-20T12:00:00.000Z';
    expect(attempts.at(-1)?.error?.errorMessage).toContain(command);
    expect(deployed.messages.at(-1)?.body).toContain(command);
    // Reading them validates them.
    expect(await deployed.records()).toHaveLength(3);
  });
});
