import fc from 'fast-check';
import { isPlainOutcome } from '../../../archive/format/plain-outcome';
import { outcomeSchema } from '../../../archive/format/run-record';
import { rounds } from '../../support/rounds';

const archived = {
  cluster: 'a',
  resource: 'log',
  outcome: 'archived',
  key: 'logs/cluster=a/date=2026-11-20/20261120T100000.000Z.json.gz',
  bytes: 1000,
  receivedBytes: 1000,
  storedBytes: 300,
  sha256: 'a'.repeat(64),
  httpStatus: 200,
  requests: 1,
  durationMs: 120,
  fetchedAt: '2026-11-20T10:00:01.500Z',
  mediaType: 'application/json',
  state: 'Running',
  recordUid: 'r',
  lastModified: 'yesterday',
  logLength: 900,
  logLines: 40,
  logSha256: 'b'.repeat(64),
  doubt: 'it is not UTF-8',
};
const failed = { cluster: 'a', resource: 'manifest', outcome: 'failed', httpStatus: 503, error: '503' };

describe('an outcome that is called plain', () => {
  it('is one as the collector writes it', () => {
    expect([isPlainOutcome(archived), isPlainOutcome(failed)]).toEqual([true, true]);
  });

  it('is valid, and has no members that the schema does not know', () => {
    const names = fc.constantFrom(...Object.keys(outcomeSchema.shape), 'later', '__proto__');
    const odd = fc.constantFrom<unknown>(
      ...[null, true, 0, -1, -0, 1.5, 2 ** 53, '', 'log', 'other', 'archived', [], {}, '2026-02-30T10:00:00.000Z'],
      ...['2026-11-20', 'A'.repeat(64), 'a'.repeat(63), `${'a'.repeat(64)}\n`],
    );
    const changed = fc
      .tuple(fc.constantFrom(archived, failed), fc.array(fc.tuple(names, odd), { maxLength: 3 }), names)
      .map(([base, changes, gone]) =>
        Object.fromEntries([...Object.entries(base), ...changes].filter(([name]) => name !== gone)),
      );
    let plain = 0;
    fc.assert(
      fc.property(fc.oneof(changed, fc.jsonValue()), (given) => {
        const text = JSON.stringify(given);
        const json = JSON.parse(text);
        if (!isPlainOutcome(json)) return;
        plain += 1;
        const { success, data } = outcomeSchema.safeParse(json);
        expect([text, success, data]).toEqual([text, true, json]);
      }),
      { ...rounds(20_000) },
    );
    expect(plain).toBeGreaterThan(0);
  });
});
