import { gzipSync } from 'node:zlib';
import { objectKey } from '../../../archive/format/keys';
import type { Resource } from '../../../archive/format/resources';
import { type Answer, type FaultRequest, type FaultService, startFaultService } from '../../support/fault-service';
import { ok, status } from '../../support/fault-service-answers';
import { logRecord, manifestText } from '../../support/fault-service-bodies';
import { RealCollector, testRun } from '../../support/real-collector';

/** Answers with status 200 as services, gateways and caches really send them, over real sockets: refused, doubted or taken. */

const uid = 'a';
const record = logRecord({ uid });
const manifest = manifestText(uid);
const text = { 'Content-Type': 'text/plain' };
const html = { 'Content-Type': 'text/html; charset=utf-8' };
const json = { 'Content-Type': 'application/json' };

let service: FaultService;
let collector: RealCollector;

afterEach(async () => {
  await collector.close();
  await service.close();
});

const right = (resource: Resource, cluster = uid) =>
  resource === 'log' ? ok(logRecord({ uid: cluster })) : ok(manifestText(cluster), text);

async function collect(
  answer: (request: FaultRequest, resource: Resource) => Answer,
  options: { readonly resources?: readonly Resource[]; readonly concurrency?: number } = {},
) {
  service = await startFaultService((request) => answer(request, request.resource ?? 'log'));
  const { resources = ['log', 'manifest'], concurrency = 1 } = options;
  const clusters = [{ uid, resources }];
  collector = await RealCollector.start({ service: { baseUrl: service.url }, clusters, limits: { concurrency } });
  return collector.attempt();
}

/** What becomes of one resource whose every answer is the same. */
async function collected(resource: Resource, answer: Answer) {
  const { outcomes } = await collect(() => answer, { resources: [resource] });
  return outcomes[0];
}

const keyOf = (resource: Resource) => objectKey({ cluster: uid, resource, run: testRun });

const utf16 = (content: string) => Buffer.from(content, 'utf16le');
const pages: Record<string, string> = {
  'a redirect to a login': '<meta http-equiv="refresh" content="0; url=https://sso.example/login">',
  'a SAML form':
    '<body onload="document.forms[0].submit()"><form method="post" action="https://idp.example/"></form></body>',
  "a router's error": `<pre>Cannot GET /v1/platformclusters/${uid}/assets/manifest</pre>`,
  "an interpreter's error": '<br />\n<b>Fatal error</b>:  Uncaught Error in <b>/srv/a.php</b>',
};

describe.each<Resource>(['log', 'manifest'])('in place of a %s', (resource) => {
  const call = resource === 'log' ? 'GET features/logFetcher' : 'GET assets/manifest';

  it.each(Object.entries(pages))('%s is refused as a page', async (_what, page) => {
    const outcome = await collected(resource, ok(page, html));
    expect(outcome).toMatchObject({ outcome: 'failed', httpStatus: 200, requests: 1 });
    const what = resource === 'log' ? 'log record' : 'manifest';
    expect(outcome?.error).toBe(
      `${call} of cluster a answered 200 OK, but the ${what} is an HTML page, perhaps a login page; check service.baseUrl`,
    );
    expect([...(await collector.objects()).keys()]).toEqual([expect.stringMatching(/^runs\//)]);
  });

  it('problem details are refused, whatever is in them', async () => {
    const body = resource === 'log' ? record : '"no"';
    const outcome = await collected(resource, ok(body, { 'Content-Type': 'application/problem+json' }));
    expect(outcome?.error).toMatch(/200 OK, but .* is an error document \(application\/problem\+json\)$/);
  });
});

const goesOn = 'it says that there is more: ';
const nul = 'it has bytes of value 0: it may be UTF-16, UTF-32 or not text';

it.each<[string, Resource, Answer, string]>([
  ['UTF-16 without a mark', 'manifest', ok(utf16('kind: A\n'), text), nul],
  [
    'UTF-16 that says so',
    'manifest',
    ok(utf16('kind: A\n'), { 'Content-Type': 'text/plain; charset=utf-16le' }),
    `${nul}; its charset is utf-16le`,
  ],
  ['4 KB of NULs', 'manifest', ok(Buffer.alloc(4096), text), nul],
  [
    'the first page of a list, in JSON',
    'manifest',
    ok('{"apiVersion":"v1","kind":"List","metadata":{"continue":"eyJ2"},"items":[]}', text),
    `${goesOn}metadata.continue`,
  ],
  [
    'the first page of a list, in YAML inside of a JSON string',
    'manifest',
    ok(JSON.stringify('items: []\nkind: List\nmetadata:\n  continue: eyJ2\n')),
    `${goesOn}metadata.continue`,
  ],
  ['a record that was cut', 'log', ok(record.replace('{', '{"truncated":true,')), `${goesOn}truncated`],
  [
    'one of several parts',
    'manifest',
    ok(`--x\r\n\r\n${manifest}\r\n--x--`, { 'Content-Type': 'multipart/mixed; boundary=x' }),
    'its media type is multipart/mixed, of several documents in one body',
  ],
  [
    'a stream of events',
    'manifest',
    ok(`data: ${manifest}\n\n`, { 'Content-Type': 'text/event-stream' }),
    'its media type is text/event-stream, of several documents in one body',
  ],
  [
    'gzip that was uploaded in pieces',
    'log',
    ok(gzipSync(record), { ...json, 'Content-Encoding': 'aws-chunked,gzip' }),
    'its Content-Encoding says aws-chunked, which is not a coding of a body',
  ],
  ['a page as text', 'manifest', ok('<script>a()</script>', text), 'it begins like an HTML page, with the tag script'],
  ...(['log', 'manifest'] as const).flatMap((resource): [string, Resource, Answer, string][] => {
    const body = resource === 'log' ? record : manifest;
    const type = resource === 'log' ? json : text;
    const cached = 'it is an old answer, out of a cache';
    return [
      ['an answer of an hour ago', resource, ok(body, { ...type, Age: '3600' }), `${cached} (Age: 3600 s)`],
      [
        'a stale answer',
        resource,
        ok(body, { ...type, Warning: '110 - "Response is Stale"' }),
        `${cached} (Warning: 110)`,
      ],
      [
        'an old answer that could not be renewed',
        resource,
        ok(body, { ...type, Age: '61', Warning: '199 a "b", 111 proxy "Revalidation Failed"' }),
        `${cached} (Age: 61 s, Warning: 111)`,
      ],
      ...['aws-chunked', 'UTF-8', '8bit', 'binary'].map((coding): [string, Resource, Answer, string] => [
        `a right body with Content-Encoding: ${coding}`,
        resource,
        ok(body, { ...type, 'Content-Encoding': coding }),
        `its Content-Encoding says ${coding.toLowerCase()}, which is not a coding of a body`,
      ]),
    ];
  }),
])('%s is archived with a doubt (%s)', async (_what, resource, answer, doubt) => {
  const outcome = await collected(resource, answer);
  expect(outcome).toMatchObject({ outcome: 'archived', doubt, requests: 1 });
  const stored = (await collector.stored()).get(keyOf(resource));
  // What metadata can hold of it; percent-encoded.
  expect(doubt.startsWith(decodeURIComponent(stored?.metadata.doubt ?? '?'))).toBe(true);
});

it.each<[string, Resource, Answer]>([
  ['of a minute ago', 'log', ok(record, { ...json, Age: '60' })],
  [
    'with another warning',
    'manifest',
    ok(manifest, { ...text, Warning: '214 proxy "Transformation Applied"', Age: 'old' }),
  ],
  ['whose warning has such a number in its text', 'log', ok(record, { ...json, Warning: '299 - "not 110 of 111"' })],
  ['with 60 KB of headers', 'manifest', ok(manifest, { ...text, 'X-Trace': 'x'.repeat(60_000) })],
])('an answer %s is archived without a doubt', async (_what, resource, answer) => {
  const outcome = await collected(resource, answer);
  expect(outcome?.outcome).toBe('archived');
  expect(outcome).not.toHaveProperty('doubt');
});

it('a body in the framing of aws-chunked is refused', async () => {
  const body = 'b\r\nkind: A\nb: 1\r\n0\r\n\r\n';
  const outcome = await collected('manifest', ok(body, { ...text, 'Content-Encoding': 'aws-chunked' }));
  expect(outcome?.error).toMatch(/the manifest is in the framing of aws-chunked, which is not part of it$/);
});

it('headers of more than 64 KiB are named', async () => {
  const outcome = await collected('manifest', ok(manifest, { ...text, 'X-Trace': 'x'.repeat(70_000) }));
  expect(outcome?.error).toContain('failed: the headers of its answer are larger than 64 KiB (HPE_HEADER_OVERFLOW)');
});

describe('a request', () => {
  it('accepts any media type of a manifest, JSON before others: a service that has no JSON answers 406', async () => {
    const negotiating = ({ headers }: FaultRequest, resource: Resource) =>
      resource === 'log' || headers.accept?.includes('*/*') ? right(resource) : status(406);
    const { summary } = await collect(negotiating);
    expect(summary?.status).toBe('complete');
    const accepted = new Map(service.requests.map(({ resource, headers }) => [resource, headers.accept]));
    expect(Object.fromEntries(accepted)).toEqual({
      log: 'application/json',
      manifest: 'application/json, */*;q=0.9',
    });
  });

  it('asks caches on the way for what the service says now', async () => {
    await collect((_request, resource) => right(resource));
    expect(service.requests.map(({ headers }) => headers['cache-control'])).toEqual(['no-cache', 'no-cache']);
  });
});

describe("a manifest beside a log that is another cluster's", () => {
  const doubt = 'another answer of the same attempt belongs to another cluster';

  /** What comes second waits for what comes first: the log until its connection is closed, the manifest until it is stored. */
  async function collectInOrder(first: Resource, options: { dryRun?: boolean } = {}) {
    let isOver = () => {};
    const firstIsOver = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    service = await startFaultService(({ resource = 'log', gone }) => async (exchange) => {
      if (resource !== first) await firstIsOver;
      else if (resource === 'log' || options.dryRun) void gone.then(isOver);
      await right(resource, 'another')(exchange);
    });
    collector = await RealCollector.start({
      service: { baseUrl: service.url },
      clusters: [{ uid }],
      intercept: ({ key }) => {
        if (key?.startsWith('manifests/')) isOver();
        return undefined;
      },
    });
    return collector.attempt(options);
  }

  it('has a doubt, in its metadata too if it is not stored yet', async () => {
    const { outcomes } = await collectInOrder('log');
    expect(outcomes).toMatchObject([{ outcome: 'failed' }, { outcome: 'archived', doubt }]);
    const stored = (await collector.stored()).get(keyOf('manifest'));
    expect(decodeURIComponent(stored?.metadata.doubt ?? '')).toBe(doubt);
  });

  it('has a doubt in the run record if it is stored already', async () => {
    const { outcomes } = await collectInOrder('manifest');
    expect(outcomes).toMatchObject([{ outcome: 'failed' }, { outcome: 'archived', doubt }]);
    expect((await collector.stored()).get(keyOf('manifest'))?.metadata).not.toHaveProperty('doubt');
    expect(await collector.records()).toMatchObject([{ counts: { archived: 1, failed: 1, doubts: 1 }, outcomes }]);
  });

  it('has a doubt in a dry run too', async () => {
    const { outcomes } = await collectInOrder('manifest', { dryRun: true });
    expect(outcomes).toMatchObject([{ outcome: 'failed' }, { outcome: 'would-archive', doubt }]);
  });

  it('has none if the log fails otherwise', async () => {
    const { outcomes } = await collect((_request, resource) => (resource === 'log' ? ok('{}') : right(resource)));
    expect(outcomes[1]).toMatchObject({ outcome: 'archived' });
    expect(outcomes[1]).not.toHaveProperty('doubt');
  });
});
