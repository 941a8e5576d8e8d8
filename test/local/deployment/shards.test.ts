import type { InvocationResult } from '../../../local/deployment/execution-environment';
import { readShards } from '../../../local/deployment/shards';
import { StackTemplate, type Template } from '../../../local/deployment/stack-template';
import { exampleTemplate } from '../../infra/example-stack';

const synthesised = exampleTemplate({ shards: 3 }).toJSON() as Template;
const location = { stackName: 'stack', accountId: '111122223333', region: 'eu-central-1' };
const scheduledTime = '2026-11-20T12:00:00Z';

interface Asked {
  readonly newRun?: string;
  readonly shard: { readonly index: number; readonly count: number };
}

/** Replaces what the template must have. */
const replacing = (from: string, to: string) => (template: Template) => {
  const text = JSON.stringify(template);
  expect(text).toContain(from);
  Object.assign(template, JSON.parse(text.replace(from, to)));
};

/** The shards of the example's template, with a fake function; `errors` are of a shard's attempts, by its index. */
function shards({
  errors = {},
  edit,
}: {
  errors?: Record<number, string[]>;
  edit?: (template: Template) => void;
} = {}) {
  const template = structuredClone(synthesised);
  edit?.(template);
  const stack = new StackTemplate(template, location);
  const arns = stack.resourcesOf('AWS::Lambda::Function').filter(({ logicalId }) => logicalId.startsWith('Collector'));
  const asked: Asked[] = [];
  const waits: number[] = [];
  let atOnce = 0;
  const invoke = async (event: unknown): Promise<InvocationResult> => {
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    await new Promise(setImmediate);
    atOnce -= 1;
    const one = event as Asked;
    asked.push(one);
    const errorType = errors[one.shard.index]?.shift();
    if (errorType === undefined) return { requestId: '1', payload: {} };
    return { requestId: '1', error: { errorType, errorMessage: 'made up', trace: [] } };
  };
  let mostAtOnce = 0;
  const clock = { now: () => Date.parse(scheduledTime), wait: async (seconds: number) => void waits.push(seconds) };
  const local = readShards({ stack, functionArn: arns[0]?.identity.arn ?? '', invoke, clock });
  if (local === undefined) throw new Error('the template has no state machine');
  return { local, asked, waits, mostAtOnce: () => mostAtOnce };
}

const indicesOf = (asked: readonly Asked[]) => asked.map(({ shard }) => shard.index);

describe('a run in shards', () => {
  it('invokes the function for each shard with the event and its part, as many at once as the definition says', async () => {
    const { local, asked, mostAtOnce } = shards();
    const { failure, invocations } = await local.start({ scheduledTime, requestId: 'r' });
    expect(failure).toBeUndefined();
    expect(invocations).toHaveLength(3);
    expect(asked).toEqual([0, 1, 2].map((index) => ({ scheduledTime, requestId: 'r', shard: { index, count: 3 } })));
    expect(mostAtOnce()).toBe(3);
    const two = shards({ edit: replacing(String.raw`\"MaxConcurrency\":3`, String.raw`\"MaxConcurrency\":2`) });
    await two.local.start({ scheduledTime });
    expect(two.mostAtOnce()).toBe(2);
  });

  it('is named by the start of the execution if its event names no time', async () => {
    const { local, asked } = shards();
    await local.start({});
    expect(new Set(asked.map(({ newRun }) => newRun))).toEqual(new Set(['2026-11-20T12:00:00.000Z']));
    await local.start({ run: scheduledTime });
    expect(asked.at(-1)).toEqual({ run: scheduledTime, shard: { index: 2, count: 3 } });
  });

  it('tries an incomplete shard three times, one and two minutes apart, and names it if all of them fail', async () => {
    const { local, asked, waits } = shards({ errors: { 1: Array(3).fill('RunIncompleteError'), 2: ['TypeError'] } });
    const { failure } = await local.start({ scheduledTime });
    expect(failure?.cause).toMatch(/^The shards \[1\] of 3 did not succeed;/);
    expect(indicesOf(asked).sort()).toEqual([0, 1, 1, 1, 2, 2]);
    expect(waits.sort()).toEqual([120, 60, 60]);
  });

  it('tries an error that no retry can heal once', async () => {
    const { local, asked } = shards({ errors: { 2: ['RunNotFoundError', 'RunNotFoundError'] } });
    expect((await local.start({ scheduledTime })).failure?.cause).toMatch(/^The shards \[2\] of 3/);
    expect(asked).toHaveLength(3);
  });

  it('fails if the state machine’s role may not invoke the function', async () => {
    const edit = replacing(
      '"Sid":"CollectShards"',
      '"Sid":"CollectShards","Condition":{"Bool":{"aws:SecureTransport":"false"}}',
    );
    const { local, asked } = shards({ edit: edit });
    expect((await local.start({ scheduledTime })).failure?.error).toBe('Lambda.AWSLambdaException');
    expect(asked).toEqual([]);
  });

  it('refuses a definition whose states it does not find', () => {
    const edit = replacing(String.raw`\"Divide the fleet\":{`, String.raw`\"Divide\":{`);
    expect(() => shards({ edit })).toThrow(/Cannot run FanOutStateMachine\w+ locally/);
  });
});
