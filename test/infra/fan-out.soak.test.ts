import type { DeployedCollector } from '../end-to-end/local-collector';
import { findCommand } from '../local/aws/moto-server';
import { describeFanOut } from './fan-out-scenarios';
import { type MotoStates, startMotoStates } from './moto-states';

describe('an execution in the local deployment', () => {
  const invoked = new WeakMap<DeployedCollector, number>();
  describeFanOut({
    tellsStart: true,
    overlaps: true,
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

const command = findCommand('moto_server');

(command === undefined ? describe.skip : describe)(
  'an execution in moto (skipped where moto_server is not in the PATH)',
  () => {
    let moto: MotoStates;
    beforeAll(async () => {
      moto = await startMotoStates(command ?? '');
    });
    afterAll(() => moto.stop());
    describeFanOut({
      tellsStart: false,
      overlaps: false,
      start: (deployed, input) => moto.start(deployed, input),
      metrics: (deployed) => moto.metrics(deployed),
      invocations: (deployed) => moto.invocations(deployed),
    });
  },
);
