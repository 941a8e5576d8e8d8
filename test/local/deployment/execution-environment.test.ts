import { memoryArguments } from '../../../local/deployment/execution-environment';

it.each([
  [1769, 88, 1593],
  [128, 6, 116],
])('%i MiB are divided as Lambda divides them', (memoryMiB, semiSpace, oldSpace) => {
  expect(memoryArguments({ memoryMiB })).toEqual([
    `--max-semi-space-size=${semiSpace}`,
    `--max-old-space-size=${oldSpace}`,
  ]);
});
