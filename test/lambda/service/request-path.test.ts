import fc from 'fast-check';
import { createCompressor } from '../../../lambda/body/compress';
import { type Resource, resourceNames, resources } from '../../../lambda/resources';
import { ClusterApi, requestPath } from '../../../lambda/service/cluster-api';
import { parseContractPath } from '../../../local/demo-service/contract-path';
import { anyCharacter } from '../../support/any-character';
import { startFaultService } from '../../support/fault-service';
import { ok } from '../../support/fault-service-answers';
import { logRecord } from '../../support/fault-service-bodies';

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

  it('arrives at a real server as it was meant', async () => {
    const service = await startFaultService(({ uid: cluster = '' }) => ok(logRecord({ uid: cluster })));
    const receiver = { spoolDirectory: '.', compressor: createCompressor('gzip'), maxBytes: 2 ** 20 };
    const limits = { connectMs: 10_000, responseMs: 10_000, idleMs: 10_000 };
    const api = new ClusterApi({
      service: { baseUrl: service.url, collection: 'platformclusters' },
      connections: 4,
      receiver,
      timeLimits: limits,
      userAgent: 'test',
      onWarning: () => undefined,
    });
    await fc.assert(
      fc.asyncProperty(uid, requestId, async (cluster, id) => {
        const asked = { cluster, resource: 'log', requestId: id } as const;
        await api.get(asked, 'key', new AbortController().signal);
        const { path, ...arrived } = service.requests.at(-1) ?? {};
        expect(arrived).toMatchObject({ uid: cluster, resource: 'log', requestId: id });
        expect(parseContractPath(path ?? '', 'platformclusters')).toMatchObject({ uid: cluster });
      }),
      { numRuns: 100 },
    );
    api.close();
    await service.close();
  });
});
