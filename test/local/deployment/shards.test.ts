import type { AsynchronousResult } from '../../../local/deployment/local-function';
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

/** The shards of the example's template, with a fake function; the shards of some indices fail. */
function shards({ failing = [], edit }: { failing?: number[]; edit?: (template: Template) => void } = {}) {
  const template = structuredClone(synthesised);
  edit?.(template);
  const stack = new StackTemplate(template, location);
  const arns = stack.resourcesOf('AWS::Lambda::Function').filter(({ logicalId }) => logicalId.startsWith('Collector'));
  const asked: Asked[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  const attempt = async (event: object): Promise<AsynchronousResult> => {
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    await new Promise(setImmediate);
    atOnce -= 1;
    asked.push(event as Asked);
    const attempts = [{ requestId: '1', payload: {} }];
    const isFailing = failing.includes((event as Asked).shard.index);
    return { attempts, failure: isFailing ? { errorType: 'Error', errorMessage: 'it failed' } : undefined };
  };
  const local = readShards(stack, arns[0]?.identity.arn ?? '', attempt);
  if (local === undefined) throw new Error('the template has no state machine');
  return { local, asked, mostAtOnce: () => mostAtOnce };
}

describe('a run in shards', () => {
  it('invokes the function for each shard with the event and its part, as many at once as the definition says', async () => {
    const { local, asked, mostAtOnce } = shards();
    const { failure, attempts } = await local.start({ scheduledTime, requestId: 'r' });
    expect(failure).toBeUndefined();
    expect(attempts).toHaveLength(3);
    expect(asked).toEqual([0, 1, 2].map((index) => ({ scheduledTime, requestId: 'r', shard: { index, count: 3 } })));
    expect(mostAtOnce()).toBe(3);
    const two = shards({ edit: replacing(String.raw`\"MaxConcurrency\":3`, String.raw`\"MaxConcurrency\":2`) });
    await two.local.start({ scheduledTime });
    expect(two.mostAtOnce()).toBe(2);
  });

  it('is named by the start of the execution if its event names no time', async () => {
    const { local, asked } = shards();
    await local.start({});
    const [first, ...others] = new Set(asked.map(({ newRun }) => newRun));
    expect(others).toEqual([]);
    expect(Math.abs(Date.now() - Date.parse(first ?? ''))).toBeLessThan(60_000);
    await local.start({ run: scheduledTime });
    expect(asked.at(-1)).toEqual({ run: scheduledTime, shard: { index: 2, count: 3 } });
  });

  it('names the shards that fail for good', async () => {
    const { local, asked } = shards({ failing: [2, 1] });
    const { failure } = await local.start({ scheduledTime });
    expect(failure?.errorMessage).toMatch(/^The shards \[1,2\] of 3 did not succeed;/);
    expect(asked).toHaveLength(3);
  });

  it('fails if the state machine’s role may not invoke the function', async () => {
    const edit = replacing(
      '"Sid":"CollectShards"',
      '"Sid":"CollectShards","Condition":{"Bool":{"aws:SecureTransport":"false"}}',
    );
    const { local, asked } = shards({ edit });
    expect((await local.start({ scheduledTime })).failure?.errorMessage).toMatch(
      /not authorized to perform: lambda:InvokeFunction/,
    );
    expect(asked).toEqual([]);
  });

  it('refuses a definition whose states it does not find', () => {
    const edit = replacing(String.raw`\"Divide the fleet\":{`, String.raw`\"Divide\":{`);
    expect(() => shards({ edit })).toThrow(/Cannot run FanOutStateMachine\w+ locally/);
  });
});
