import { printRun } from '../../../cli/terminal/print-run';
import { keptTerminal } from '../run-collector';

it('the list that a run read writes no lines of the output', async () => {
  const terminal = keptTerminal();
  const run = new Date('2026-11-20T06:00:00Z');
  const made = 'x\nRun 2026-11-20T06:00:00Z: complete\r\u001b[2J';
  const read = { from: `s3://${made}`, problem: made, since: made, isInForce: false } as const;
  const none = { joined: [], left: [], lessened: [], began: [], returned: [], leaving: [] };
  const counts = { archived: 1, failed: 0, notAttempted: 0, optionalMissing: 0, doubts: 0 };
  const shown = { run, counts, attempts: 1, durationMs: 1, stopped: [], status: 'complete', outcomes: [] } as const;
  await printRun(terminal, { ...shown, clusters: { ...none, run, read } } as never, false, '');
  const lines = terminal.out.text.split('\n').filter((line) => line.startsWith('Run '));
  expect(lines).toHaveLength(1);
  expect(terminal.out.text).toContain('x\\nRun 2026-11-20T06:00:00Z: complete\\r\\u{1b}[2J');
});
