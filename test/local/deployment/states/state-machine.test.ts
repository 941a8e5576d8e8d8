import type { InvocationResult } from '../../../../local/deployment/execution-environment';
import { StackTemplate, type Template } from '../../../../local/deployment/stack-template';
import { type MetricValue, readStateMachine } from '../../../../local/deployment/states/state-machine';
import { exampleTemplate } from '../../../infra/example-stack';

const synthesised = exampleTemplate({ shards: 3 }).toJSON() as Template;
const location = { stackName: 'stack', accountId: '111122223333', region: 'eu-central-1' };

interface Asked {
  readonly event: { scheduledTime?: string; readonly newRun?: string; shard: { index: number; count: number } };
}

interface Options {
  /** Answers an invocation; left out: it succeeds. */
  readonly answer?: (asked: Asked, nth: number) => { errorType: string; errorMessage: string } | undefined;
  readonly edit?: (template: Template) => void;
  readonly now?: number;
}

/** The template's state machine with a fake function. */
function stateMachine({ answer, edit, now = 0 }: Options = {}) {
  const template = structuredClone(synthesised);
  edit?.(template);
  const stack = new StackTemplate(template, location);
  const functions = stack.resourcesOf('AWS::Lambda::Function');
  const collector = functions.find(({ logicalId }) => logicalId.startsWith('Collector'))?.identity.arn;
  const asked: Asked[] = [];
  const waits: number[] = [];
  const metrics: MetricValue[] = [];
  let underWay = 0;
  let mostAtOnce = 0;
  const invoke = async (functionArn: string, event: unknown): Promise<InvocationResult> => {
    expect(functionArn).toBe(collector);
    underWay += 1;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    const one = { event } as Asked;
    asked.push(one);
    const nth = asked.filter(({ event: { shard } }) => shard.index === one.event.shard.index).length;
    const error = answer?.(one, nth);
    return error === undefined ? { requestId: '1', payload: {} } : { requestId: '1', error: { ...error, trace: [] } };
  };
  const machine = readStateMachine({
    stack,
    invoke,
    onMetric: (metric) => metrics.push(metric),
    clock: { now: () => now, wait: async (seconds) => void waits.push(seconds) },
  });
  if (machine === undefined) throw new Error('the template has no state machine');
  return { machine, asked, waits, metrics, mostAtOnce: () => mostAtOnce };
}

/** Replaces what must be there, in a definition that is JSON within the template's. */
const replacing = (from: string, to: string) => (template: Template) => {
  const text = JSON.stringify(template);
  expect(text).toContain(from);
  Object.assign(template, JSON.parse(text.replace(from, to)));
};

const threeAtOnce = String.raw`\"MaxConcurrency\":3`;
const scheduledTime = '2026-11-20T12:00:00Z';
const only = (index: number, errorType: string) => (asked: Asked) =>
  asked.event.shard.index === index ? { errorType, errorMessage: 'made up' } : undefined;

describe('the state machine', () => {
  it('every shard is invoked with the event and its part, all at once', async () => {
    const { machine, asked, mostAtOnce } = stateMachine();
    const { failure, invocations } = await machine.start({ scheduledTime, requestId: 'r' });
    expect(failure).toBeUndefined();
    expect(invocations).toHaveLength(3);
    expect(asked.map(({ event }) => event)).toEqual(
      [0, 1, 2].map((index) => ({ scheduledTime, requestId: 'r', shard: { index, count: 3 } })),
    );
    expect(mostAtOnce()).toBe(3);
  });

  it('an input without a time names the run by the start of the execution', async () => {
    const { machine, asked } = stateMachine({ now: Date.parse('2026-11-20T12:34:56.789Z') });
    await machine.start({});
    expect(new Set(asked.map(({ event }) => event.newRun))).toEqual(new Set(['2026-11-20T12:34:56.789Z']));
    expect(asked.some(({ event }) => 'scheduledTime' in event)).toBe(false);
  });

  it('an earlier run keeps its name, and no other time is added to it', async () => {
    const { machine, asked } = stateMachine();
    await machine.start({ run: scheduledTime });
    expect(asked[0]?.event).toEqual({ run: scheduledTime, shard: { index: 0, count: 3 } });
  });

  it('an incomplete shard is tried three times, one and two minutes apart, and the others once', async () => {
    const { machine, asked, waits } = stateMachine({ answer: only(1, 'RunIncompleteError') });
    const { failure } = await machine.start({ scheduledTime });
    expect(failure?.error).toBe('ShardsFailedError');
    expect(failure?.cause).toMatch(
      /^The shards \[1\] of 3 did not succeed; .*\{"scheduledTime":"2026-11-20T12:00:00Z"\}\. Not with Redrive/,
    );
    expect(waits).toEqual([60, 120]);
    expect(asked.map(({ event }) => event.shard.index).sort()).toEqual([0, 1, 1, 1, 2]);
  });

  it('a throttled account does not use up the attempts of a shard, and its waits are spread', async () => {
    const { machine, waits } = stateMachine({
      answer: ({ event }, nth) => {
        if (event.shard.index !== 0 || nth > 7) return undefined;
        const errorType = nth <= 5 ? 'Lambda.TooManyRequestsException' : 'RunIncompleteError';
        return { errorType, errorMessage: 'made up' };
      },
    });
    expect((await machine.start({ scheduledTime })).failure).toBeUndefined();
    expect(waits).toHaveLength(7);
    for (const [index, longest] of [10, 20, 40, 80, 160].entries()) expect(waits[index]).toBeLessThanOrEqual(longest);
    expect(waits.slice(5)).toEqual([60, 120]);
  });

  describe('with a place less than shards', () => {
    const edit = replacing(threeAtOnce, String.raw`\"MaxConcurrency\":2`);

    it('the one that is free first is taken at once', async () => {
      const { machine, asked } = stateMachine({ edit, answer: only(0, 'RunIncompleteError') });
      await machine.start({ scheduledTime });
      expect(asked.map(({ event }) => event.shard.index)).toEqual([0, 1, 0, 2, 0]);
    });

    it('no other shard is begun once the work on one has broken down', async () => {
      const answer = ({ event }: Asked) => {
        if (event.shard.index === 0) throw new Error('broken');
        return undefined;
      };
      const { machine, asked } = stateMachine({ edit, answer });
      await expect(machine.start({ scheduledTime })).rejects.toThrow('broken');
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      expect(asked.map(({ event }) => event.shard.index)).toEqual([0, 1]);
    });
  });

  it('an error that no retry can heal is tried once', async () => {
    for (const hopeless of ['InvalidEventError', 'RunNotFoundError']) {
      const { machine, asked } = stateMachine({ answer: only(2, hopeless) });
      expect((await machine.start({ scheduledTime })).failure?.cause).toMatch(/^The shards \[2\] of 3/);
      expect(asked).toHaveLength(3);
    }
  });

  describe('a run of the schedule is counted', () => {
    it('once all shards have written their records, complete or not', async () => {
      for (const answer of [undefined, only(0, 'RunIncompleteError')]) {
        const { machine, metrics } = stateMachine({ ...(answer && { answer }) });
        await machine.start({ scheduledTime });
        expect(metrics).toEqual([
          {
            namespace: 'ClusterLogCollector',
            name: 'ScheduledRun',
            value: 1,
            dimensions: { service: 'cluster-log-collector' },
          },
        ]);
      }
    });

    it.each<[string, object, Options]>([
      ['by hand', {}, {}],
      ['dry', { scheduledTime, dryRun: true }, {}],
      ['of which a shard died', { scheduledTime }, { answer: only(1, 'Runtime.ExitError') }],
      ['of an earlier time', { run: scheduledTime }, {}],
    ])('but not one %s', async (_kind, input, options) => {
      const { machine, metrics } = stateMachine(options);
      await machine.start(input);
      expect(metrics).toEqual([]);
    });
  });

  /** Takes a statement of the state machine's role away, which must be there. */
  const without = (sid: string) => (template: Template) => {
    const [policy] = Object.entries(template.Resources).filter(([id]) => id.startsWith('FanOutRoleDefaultPolicy'));
    const document = policy?.[1].Properties?.PolicyDocument as { Statement: { Sid?: string }[] };
    const kept = document.Statement.filter(({ Sid }) => Sid !== sid);
    expect(kept).toHaveLength(document.Statement.length - 1);
    document.Statement = kept;
  };

  describe('a permission that the state machine lacks shows', () => {
    it('to invoke the function: the execution fails', async () => {
      const { machine, asked } = stateMachine({ edit: without('CollectShards') });
      expect((await machine.start({ scheduledTime })).failure?.error).toBe('ShardsFailedError');
      expect(asked).toEqual([]);
    });

    it('to count runs: the execution ends as usual, and no run is counted', async () => {
      const { machine, metrics } = stateMachine({ edit: without('CountRuns') });
      expect((await machine.start({ scheduledTime })).failure).toBeUndefined();
      expect(metrics).toEqual([]);
    });

    it('to put metrics of another namespace', async () => {
      const ours = String.raw`\"Namespace\":\"ClusterLogCollector\"`;
      const edit = replacing(ours, String.raw`\"Namespace\":\"Other\"`);
      const { machine, metrics } = stateMachine({ edit });
      await machine.start({ scheduledTime });
      expect(metrics).toEqual([]);
    });
  });

  it.each([
    ['a field that is not known', threeAtOnce, String.raw`${threeAtOnce},\"ToleratedFailureCount\":1`],
    ['a kind of state that is not known', String.raw`\"Type\":\"Succeed\"`, String.raw`\"Type\":\"Wait\"`],
    ['a condition that is not known', String.raw`\"BooleanEquals\":false`, String.raw`\"NumericEquals\":0`],
  ])('a definition with %s is refused, not half understood', (_what, from, to) => {
    expect(() => stateMachine({ edit: replacing(from, to) })).toThrow(/Cannot run FanOutStateMachine\w+ locally/);
  });
});
