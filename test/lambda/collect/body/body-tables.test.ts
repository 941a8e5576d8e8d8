import fc from 'fast-check';
import { InvalidBodyError } from '../../../../lambda/collect/body/body-check';
import { type BodyVerdict, verdictOnLog, verdictOnManifest } from '../../../support/body-verdict';
import { bytewise, decodes, split, splits } from '../../../support/json-documents';
import { rounds } from '../../../support/rounds';
import { doubtfulLogs } from './tables/doubtful-logs';
import { doubtfulManifests } from './tables/doubtful-manifests';
import { rightLogs } from './tables/right-logs';
import { rightManifests } from './tables/right-manifests';
import { type TableEntry, uid } from './tables/table-entry';
import { wrongLogs } from './tables/wrong-logs';
import { wrongManifests } from './tables/wrong-manifests';

const mediaTypes = [undefined, '', 'text/plain', 'application/yaml', 'application/jsonl', 'text/html', 'text/xml'];

/** The verdict on a log, which must not depend on where it is split. */
function judgedLog(body: Buffer, mediaType?: string): BodyVerdict {
  const verdict = verdictOnLog([body], uid, mediaType);
  expect(verdictOnLog(bytewise(body), uid, mediaType)).toEqual(verdict);
  return verdict;
}

/**
 * The verdict on a manifest's content, which must not depend on where it is split. It must be the same under every media type,
 * unless the entry names one. Under HTML's, what begins with a tag is refused: {@link beginsWithATag}.
 */
function judgedManifest(content: Buffer, ownType?: string): BodyVerdict {
  const verdict = verdictOnManifest([content], ownType ?? 'text/plain');
  expect(verdictOnManifest(bytewise(content), ownType ?? 'text/plain')).toEqual(verdict);
  if (ownType !== undefined) return verdict;
  for (const mediaType of mediaTypes)
    if (mediaType !== 'text/html' || !beginsWithATag(content))
      expect(verdictOnManifest([content], mediaType)).toEqual(verdict);
  if (decodes(content)) {
    const asString = Buffer.from(JSON.stringify(content.toString()));
    expect(verdictOnManifest([asString], 'application/json')).toEqual(verdict);
  }
  return verdict;
}

function beginsWithATag(content: Buffer): boolean {
  return /^\s*(?:<!--(?!.*<!--).*-->)?<[a-z]/i.test(content.toString());
}

const resources: [
  string,
  (body: Buffer, mediaType?: string) => BodyVerdict,
  Record<'right' | 'wrong' | 'doubtful', readonly TableEntry[]>,
][] = [
  ['logs', judgedLog, { right: rightLogs, wrong: wrongLogs, doubtful: doubtfulLogs }],
  ['manifests', judgedManifest, { right: rightManifests, wrong: wrongManifests, doubtful: doubtfulManifests }],
];

describe.each(resources)('of %s', (_resource, judged, { right, wrong, doubtful }) => {
  describe(`${right.length} right ones are archived as they are`, () => {
    it.each(right)('$name', ({ body, mediaType }) => {
      const verdict = judged(Buffer.from(body), mediaType);
      expect(verdict).toEqual({ content: Buffer.from(body), facts: expect.anything() });
      expect(verdict).not.toHaveProperty('facts.doubt');
    });
  });

  describe(`${wrong.length} wrong ones are refused`, () => {
    it.each(wrong)('$name', ({ body, says, mediaType }) => {
      expect(judged(Buffer.from(body), mediaType)).toMatchObject({ name: 'InvalidBodyError', message: says });
    });
  });

  describe(`${doubtful.length} doubtful ones are archived as they are, with a doubt`, () => {
    it.each(doubtful)('$name', ({ body, says, mediaType }) => {
      const verdict = judged(Buffer.from(body), mediaType);
      expect(verdict).toEqual({ content: Buffer.from(body), facts: expect.objectContaining({ doubt: says }) });
    });
  });

  it('has no entry twice', () => {
    const entries = [right, wrong, doubtful].flat();
    expect(twice(entries.map(({ name }) => name))).toEqual([]);
    expect(twice(entries.map(({ body, mediaType = '' }) => mediaType + Buffer.from(body).toString('latin1')))).toEqual(
      [],
    );
  });
});

function twice(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) < index);
}

describe('a body that is cut short is not archived as good', () => {
  it.each(rightLogs)('as a log: $name', ({ body }) => {
    expect(beginningsOf(body).filter((part) => !isRefused(verdictOnLog([part], uid)))).toEqual([]);
  });

  it.each(rightManifests.filter(({ showsItsEnd }) => showsItsEnd))('as a manifest: $name', ({ body }) => {
    expect(beginningsOf(body).filter((part) => isGood(verdictOnManifest([part], 'text/plain')))).toEqual([]);
  });

  it.each(rightManifests)('as a manifest in a JSON string: $name', ({ body }) => {
    const beginnings = beginningsOf(JSON.stringify(body.toString()));
    expect(beginnings.filter((part) => !isRefused(verdictOnManifest([part], 'application/json')))).toEqual([]);
  });
});

/** Every beginning of a body, shorter than all that is not whitespace of it. */
function beginningsOf(body: string | Buffer): Buffer[] {
  const bytes = Buffer.from(body.toString().trimEnd());
  return Array.from(bytes, (_, length) => bytes.subarray(0, length));
}

function isRefused(verdict: BodyVerdict): boolean {
  return verdict instanceof InvalidBodyError;
}

function isGood(verdict: BodyVerdict): boolean {
  return !(verdict instanceof Error) && verdict.facts.doubt === undefined;
}

describe('any body at all', () => {
  const tables = [rightLogs, wrongLogs, doubtfulLogs, rightManifests, wrongManifests, doubtfulManifests];
  const entries = tables.flat().map(({ body }) => Buffer.from(body));
  const place = fc.double({ min: 0, max: 1, noNaN: true });
  /** Two entries, each cut anywhere and put together, with some bytes replaced. */
  const mutated = fc
    .tuple(
      fc.constantFrom(...entries),
      fc.constantFrom(...entries),
      place,
      place,
      fc.array(fc.tuple(place, fc.nat(255)), { maxLength: 4 }),
    )
    .map(([first, second, end, begin, wounds]) => {
      const body = Buffer.concat([
        first.subarray(0, Math.ceil(end * first.length)),
        second.subarray(Math.floor(begin * second.length)),
      ]);
      for (const [at, byte] of wounds) if (body.length > 0) body[Math.floor(at * (body.length - 1))] = byte;
      return body;
    });

  it('is archived or refused, the same however it is split, and never breaks a check', () => {
    const seen = { good: 0, doubtful: 0, refused: 0 };
    const tried = rounds(2000);
    fc.assert(
      fc.property(
        mutated,
        splits,
        fc.constantFrom('application/json', 'text/plain', 'text/html; charset=utf-16'),
        (body, at, mediaType) => {
          for (const judged of [
            (chunks: Buffer[]) => verdictOnLog(chunks, uid, mediaType),
            (chunks: Buffer[]) => verdictOnManifest(chunks, mediaType),
          ]) {
            const verdict = judged([body]);
            expect(judged(split(body, at))).toEqual(verdict);
            if (verdict instanceof Error) seen.refused += 1;
            else if (verdict.facts.doubt !== undefined) seen.doubtful += 1;
            else seen.good += 1;
          }
        },
      ),
      tried,
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(tried.numRuns / 25);
  });
});
