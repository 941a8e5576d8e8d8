import type { DeployedCollector } from '../end-to-end/local-collector';
import { describeFanOut } from './fan-out-scenarios';

describe('an execution in the local deployment', () => {
  const invoked = new WeakMap<DeployedCollector, number>();
  describeFanOut({
    start: async (deployed, input) => {
      const { failure, invocations } = await deployed.startExecution(input);
      invoked.set(deployed, (invoked.get(deployed) ?? 0) + invocations.length);
      return failure === undefined ? {} : { failure };
    },
    metrics: async ({ metrics }) => metrics,
    invocations: (deployed) => invoked.get(deployed) ?? 0,
  });
});
