const { existsSync, mkdtempSync, rmSync, statfsSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

// All tests, and the processes they start, keep their files in one folder, which goes with them: no test removes its own,
// unless they are large. It is in memory where there is room: a disk takes longer to remove tens of thousands of files than
// some tests take.
const memory = '/dev/shm';
const isRoomy = existsSync(memory) && statfsSync(memory).bavail * statfsSync(memory).bsize > 6 * 1024 ** 3;
process.env.TMPDIR = mkdtempSync(join(isRoomy ? memory : tmpdir(), 'collector-tests-'));
process.on('exit', () => rmSync(process.env.TMPDIR, { recursive: true, force: true }));

// For the workers too: a young generation four times as large as Node's is collected less often. The first doubling took
// 8 % off the processor time, the second 5 %.
process.execArgv.push('--max-semi-space-size=64');

// The SDK's switch for the warning that it writes on Node 20: the versions that the lock file names go on working there.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const shared = {
  roots: ['<rootDir>/test'],
  transform: { '^.+\\.tsx?$': '@swc/jest' },
  testEnvironment: '<rootDir>/test/runner/environment.js',
  runtime: require.resolve('./test/runner/runtime.js'),
  setupFilesAfterEnv: ['<rootDir>/test/runner/equal-bytes.js'],
};

/** @type {import('jest').Config} */
module.exports = {
  // Jest would leave one core idle for a watcher that nobody runs.
  maxWorkers: '100%',
  // In milliseconds. Jest calls a worker that takes half a second to end one that leaks: on a busy machine each does. What
  // leaks never ends.
  workerGracefulExitTimeout: 30_000,
  // The time limits, in milliseconds, are for what hangs: no test fails because a machine is slow.
  projects: [
    {
      ...shared,
      displayName: 'fast',
      testTimeout: 300_000,
      testMatch: ['**/*.test.ts'],
      testPathIgnorePatterns: ['\\.soak\\.test\\.ts$'],
    },
    { ...shared, displayName: 'soak', testMatch: ['**/*.soak.test.ts'], testTimeout: 300_000 },
  ],
};
