const { relative } = require('node:path');

/** Prints the test files and the cases that took longest, in seconds. Files run side by side on a busy machine. */
module.exports = class SlowestReporter {
  onRunComplete(_contexts, { testResults }) {
    const files = testResults.map(({ testFilePath, perfStats }) => [perfStats.runtime, relative('', testFilePath)]);
    const cases = testResults.flatMap((file) =>
      file.testResults.map(({ duration, fullName }) => [duration ?? 0, fullName]),
    );
    for (const [title, times] of Object.entries({ files, cases })) {
      const slowest = times.toSorted(([a], [b]) => b - a).slice(0, 10);
      const lines = slowest.map(([ms, name]) => `${(ms / 1000).toFixed(1).padStart(7)}  ${name}`);
      process.stdout.write(`\nThe slowest ${title}, in seconds\n${lines.join('\n')}\n`);
    }
  }
};
