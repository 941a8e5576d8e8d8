import { installRuntime, RuntimeUnavailableError } from './install-runtime';
import { runUnderRuntime } from './run-under-runtime';

/** `npm run check:runtime`: the bundle under Lambda's own runtime interface client, on the function's version of Node. */
async function main(): Promise<void> {
  const runtime = installRuntime();
  try {
    await runUnderRuntime(runtime);
  } finally {
    runtime.remove();
  }
}

main().catch((error: unknown) => {
  if (error instanceof RuntimeUnavailableError) return console.log(`skipped: ${error.message}`);
  console.error(error);
  process.exitCode = 1;
});
