import { type DeployedCollector, useLocalCollector } from '../end-to-end/local-collector';
import { policyOf, without, withSid } from '../end-to-end/template-policies';
import { findCommand } from '../local/aws/moto-server';
import { describeFanOut } from './fan-out-scenarios';
import { useMotoStates } from './moto-states';

describe('an execution in the local deployment', () => {
  const invoked = new WeakMap<DeployedCollector, number>();
  describeFanOut({
    isMoto: false,
    start: async (deployed, input) => {
      const result = await deployed.stateMachine?.start(input);
      if (result === undefined) throw new Error('the stack has no state machine');
      invoked.set(deployed, (invoked.get(deployed) ?? 0) + result.invocations.length);
      return result.failure === undefined ? {} : { failure: result.failure };
    },
    metrics: async ({ metrics }) => metrics,
    invocations: (deployed) => invoked.get(deployed) ?? 0,
  });
});

describe('a schedule that starts the state machine', () => {
  const noon = new Date('2026-11-20T12:00:00Z');
  const collector = useLocalCollector({ shards: 2 });

  it('passes its own input, and the result names the execution', async () => {
    const deployed = await collector.deploy();
    const { execution, attempts, condition } = await deployed.fireSchedule(noon);
    expect(execution).toEqual({ name: expect.any(String), invocations: attempts });
    expect(condition).toBeUndefined();
    expect((await deployed.records()).map(({ run, shard }) => [run, shard?.index])).toEqual([
      [noon.toISOString(), 0],
      [noon.toISOString(), 1],
    ]);
  });

  it('sends its event to the dead-letter queue if its role may not start it', async () => {
    const deployed = await collector.deploy({
      edit: (template) => without(policyOf(template, 'AWS::IAM::Policy', 'ScheduleRole'), withSid('StartRun')),
    });
    await expect(deployed.fireSchedule(noon)).rejects.toThrow(/states:StartExecution .*lies in the dead-letter queue/);
    expect(await deployed.keys()).toEqual([]);
    expect(deployed.messages).toEqual([
      { to: expect.stringMatching(/^arn:aws:sqs:/), body: '{"scheduledTime":"2026-11-20T12:00:00Z"}' },
    ]);
  });
});

const moto = findCommand('moto_server');

(moto === undefined ? describe.skip : describe)(
  'an execution in moto (skipped where moto_server is not in the PATH)',
  () => describeFanOut(useMotoStates(moto ?? '')),
);
