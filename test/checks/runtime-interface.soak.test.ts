import { installRuntime, type LambdaRuntime, RuntimeUnavailableError } from '../../checks/install-runtime';
import { runUnderRuntime } from '../../checks/run-under-runtime';

const runtime = installed();

function installed(): LambdaRuntime | RuntimeUnavailableError {
  try {
    return installRuntime();
  } catch (error) {
    if (error instanceof RuntimeUnavailableError) return error;
    throw error;
  }
}

if (runtime instanceof RuntimeUnavailableError) {
  test.skip(`the bundle works under Lambda's own client (skipped: ${runtime.message})`, () => {});
} else {
  afterAll(() => runtime.remove());

  test("the bundle works under Lambda's own client", () => runUnderRuntime(runtime), 180_000);
}
