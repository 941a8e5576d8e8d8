import fc from 'fast-check';
import { type Resource, resourceNames, resources } from '../../../../archive/format/resources';
import { requestPath } from '../../../../lambda/collect/service/cluster-api';
import { parseContractPath } from '../../../../local/demo-service/contract-path';
import { anyCharacter } from '../../../support/any-character';

/** Every uid that a configuration accepts, the awkward ones often. */
const awkward = fc.constantFrom(
  '/',
  '..',
  '.',
  '%',
  '%2e',
  '%2F',
  '?',
  '#',
  '\\',
  ';',
  ' ',
  '\n',
  '\u0000',
  '+',
  '__proto__',
  'é',
  '🙂',
);
const uid = fc
  .oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: anyCharacter }),
    fc.array(awkward).map((parts) => parts.join('')),
  )
  .filter(
    (text) => text !== '' && text !== '.' && text !== '..' && text.isWellFormed() && Buffer.byteLength(text) <= 200,
  );
const requestId = fc.option(
  fc.string({ unit: anyCharacter, minLength: 1 }).filter((text) => text.isWellFormed()),
  {
    nil: undefined,
  },
);
const resource = fc.constantFrom<Resource>(...resourceNames);
const request = fc.record({ cluster: uid, resource, requestId });

describe('the path of a request', () => {
  it('stays below its collection, and gives back the uid, through the parser that every browser and Node use', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const path = requestPath('platformclusters', asked);
        const url = new URL(path, 'https://clusters.example.com/prefix');
        // Nothing was resolved, escaped or cut off by parsing.
        expect(url.pathname + url.search).toBe(path);
        expect(parseContractPath(path, 'platformclusters')).toMatchObject({ uid: asked.cluster });
        const segments = url.pathname.split('/');
        expect(segments).toHaveLength(4 + resources[asked.resource].path.split('/').length);
        expect(segments.slice(0, 3)).toEqual(['', 'v1', 'platformclusters']);
        expect(decodeURIComponent(segments[3] ?? '')).toBe(asked.cluster);
        expect(segments.slice(4).join('/')).toBe(resources[asked.resource].path);
        const sent = asked.resource === 'log' ? (asked.requestId ?? null) : null;
        expect(url.searchParams.get('requestId')).toBe(sent);
        expect([...url.searchParams.keys()]).toHaveLength(sent === null ? 0 : 1);
      }),
      { numRuns: 500 },
    );
  });
});
