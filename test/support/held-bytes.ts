import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/**
 * Bytes that this process still refers to, buffers included. The resident set would also count garbage that V8 has not
 * collected yet, and V8 waits the longer the more memory the machine has.
 */
export function heldBytes(): number {
  // A collection only begins to free the memory of buffers, on other threads. The next one waits until that is done.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
