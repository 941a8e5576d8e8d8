import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/**
 * Bytes that this process still refers to, buffers included. The resident set would also count garbage that V8 has not
 * collected yet, and V8 waits the longer the more memory the machine has.
 */
export function heldBytes(): number {
  // A collection only begins to free the memory of buffers, on other threads, and a busy machine lets them wait.
  let held = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round += 1) {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    if (round > 1 && heapUsed + external >= held) break;
    held = Math.min(held, heapUsed + external);
  }
  return held;
}
