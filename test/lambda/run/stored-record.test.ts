import fc from 'fast-check';
import { type Outcome, type RunRecord, runRecordSchema } from '../../../lambda/run/run-record';
import { parseRunRecord } from '../../../lambda/run/stored-record';
import { emptyRunRecord } from '../../support/empty-run-record';

const run = new Date('2026-11-20T10:00:00.000Z');
const name = { run, attempt: 1 };

const head = { ...emptyRunRecord(run), outcomes: undefined };

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', ']}', '[{', '","outcomes":[', '\ud800'),
);
const outcome = fc.record(
  { cluster: text, resource: fc.constantFrom('log', 'manifest'), outcome: fc.constantFrom('archived', 'failed') },
  { requiredKeys: ['cluster', 'resource', 'outcome'] },
);
/** Members beside those of the format: a later version may have them, and whoever may write can add them. */
const extended = fc
  .tuple(outcome, fc.dictionary(fc.constantFrom('error', 'attempt', '__proto__', 'toString', 'x'), fc.jsonValue()))
  .map(([one, more]) => ({ ...more, ...one }));
const element = fc.oneof(
  { weight: 20, arbitrary: outcome },
  { weight: 10, arbitrary: extended },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const space = fc.oneof(
  { weight: 100, arbitrary: fc.constantFrom('', ' ', '\n\t', '\r') },
  { weight: 1, arbitrary: fc.constantFrom('\u00a0', '\ufeff') },
);
const outcomesName = fc.constantFrom('"outcomes"', '"outcomes"', '"\\u006futcomes"', '"other"');

/** A member that may be the outcomes, written in any way. */
const member = fc
  .tuple(outcomesName, fc.array(element, { maxLength: 4 }), fc.array(space, { minLength: 6, maxLength: 6 }))
  .map(([key, elements, [a, b, c, d, e, f]]) => {
    const list = elements.map((one) => `${d}${JSON.stringify(one)}${e}`).join(',');
    return `${a}${key}${b}:${c}[${list}${elements.length === 0 ? f : ''}]`;
  });
const otherMember = fc
  .tuple(fc.constantFrom('outcomes', 'shard', 'x', 'y', '__proto__'), fc.jsonValue())
  .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);

const few = <Item>(items: fc.Arbitrary<Item>) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant([]) },
    items.map((one) => [one]),
  );

/** Most are records; some have members twice, wrong, or in another order. */
const whole = fc
  .tuple(few(otherMember), fc.array(member, { minLength: 1, maxLength: 2 }), few(otherMember), fc.boolean())
  .map(([before, members, after, isFirst]) => {
    const own = JSON.stringify(head).slice(1, -1);
    const all = [...before, ...members, ...after];
    return Buffer.from(`{${(isFirst ? [own, ...all] : [...all, own]).join(',')}}`);
  });

/** Bytes that structure depends on, and some that are no UTF-8. */
const byte = fc.oneof(fc.constantFrom(...Buffer.from('"\\[]{},: 0x'), 0xe2, 0x80, 0xff, 0xef), fc.nat(255));
const wounded = fc
  .tuple(whole, fc.nat(), fc.nat(3), fc.array(byte, { maxLength: 2 }))
  .map(([bytes, seed, removed, added]) => {
    const at = seed % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(added), bytes.subarray(at + removed)]);
  });

/** What the whole text says if it is parsed and validated at once, or why it is no record. */
function parsedAtOnce(bytes: Buffer): RunRecord | string {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    return 'it is not JSON';
  }
  const { success, data, error } = runRecordSchema.safeParse(json);
  if (!success) {
    const [issue] = error.issues;
    return `it is not a valid run record: ${issue?.path.map(String).join('.') || 'it'}: ${issue?.message}`;
  }
  const isSame = data.run === head.run && data.attempt === head.attempt && data.shard === undefined;
  return isSame ? data : 'its content names another run, shard or attempt than its key';
}

function parsed(bytes: Buffer): RunRecord | string {
  try {
    const record = parseRunRecord(bytes, name);
    return { ...record, outcomes: [...record.outcomes] };
  } catch (error) {
    return (error as Error).message;
  }
}

function textOf(outcomes: string, before = '', after = ''): Buffer {
  return Buffer.from(`${before}${JSON.stringify(head).slice(0, -1)},"outcomes":${outcomes}}${after}`);
}

describe('a stored run record', () => {
  it('is judged as if its whole text were parsed at once', () => {
    let records = 0;
    fc.assert(
      fc.property(fc.oneof(whole, wounded), (bytes) => {
        const expected = parsedAtOnce(bytes);
        if (typeof expected !== 'string' && expected.outcomes.length > 0) records += 1;
        expect(parsed(bytes)).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
    // Otherwise nearly all texts were refused, and equal refusals show little.
    expect(records).toBeGreaterThan(300);
  });

  const good = '{"cluster":"a","resource":"log","outcome":"failed"}';
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  it.each([
    ['no outcome', textOf('[ \n]')],
    ['an outcome of many megabytes', textOf(`[${good.replace('"a"', `"${'a'.repeat(3_000_000)}"`)}]`)],
    ['deep nesting in an outcome', textOf(`[${good.replace('}', `,"x":${deep}}`)}]`)],
    ['deep nesting beside the outcomes', textOf(`[${good}],"x":${deep}`)],
    ['outcomes twice', textOf(`[0],"outcomes":[${good}]`)],
    ['outcomes twice, first as an array', textOf(`[${good}],"outcomes":5`)],
    ['outcomes inside another member', textOf(`[${good}],"x":{"outcomes":[0]}`)],
    ['an array', textOf(`[${good}]`, '["outcomes",[', '])')],
    ['a byte order mark', textOf(`[${good}]`, '\ufeff')],
    ['trailing bytes', textOf(`[${good}]`, '', 'x')],
    ['a comma too many', textOf(`[${good},]`)],
    ['only a comma', textOf('[,]')],
    ['a space that JSON does not have', textOf('[\u00a0]')],
    ['brackets that do not match', textOf(`[${good}}`)],
    ['no end', textOf(`[${good}`).subarray(0, -1)],
    ['no bytes', Buffer.alloc(0)],
    ['what is not JSON behind an outcome that is not valid', textOf('[{},x]')],
    ['an outcome that is not valid, and a wrong head', textOf('[{}],"run":1')],
    [
      'a character that is cut',
      Buffer.concat([textOf(`[${good}]`).subarray(0, -20), Buffer.from([0xe2]), Buffer.from('"}]}')]),
    ],
  ])('is judged so with %s', (_, bytes) => {
    expect(parsed(bytes)).toEqual(parsedAtOnce(bytes));
  });

  it('gives outcomes in any order', () => {
    const outcomes = ['a', 'ü', 'c'].map((cluster): Outcome => ({ cluster, resource: 'log', outcome: 'failed' }));
    const record = parseRunRecord(textOf(JSON.stringify(outcomes)), name);
    expect([2, 0, 1, 3, -1].map((index) => record.outcomes.at(index)?.cluster)).toEqual([
      'c',
      'a',
      'ü',
      undefined,
      undefined,
    ]);
    expect([...record.outcomes]).toEqual(outcomes);
    expect([...record.outcomes]).toEqual(outcomes);
  });
});
