import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { objectKey } from '../../../archive/format/keys';
import { firstResources, type Resource } from '../../../archive/format/resources';
import { maxRequests } from '../../../lambda/collect/dispatch/retry';
import { type Answer, type FaultRequest, type FaultService, startFaultService } from '../../support/fault-service';
import {
  inGzip,
  ok,
  reply,
  resetBeforeHeaders,
  resetMidBody,
  slowHeaders,
  stalledBody,
  status,
  throttled,
  tricklingBody,
  truncatedChunked,
  truncatedLength,
} from '../../support/fault-service-answers';
import { errorDocument, htmlPage, logRecord, manifestText } from '../../support/fault-service-bodies';
import { damagedGzipStreams, gzipStreams } from '../../support/gzip-streams';
import { RealCollector, type RealCollectorOptions, testKey, testRun } from '../../support/real-collector';

/**
 * Every fault of the service, over real sockets, beside a healthy cluster: what is recorded, what is in the bucket, and
 * that nothing else is.
 */
interface Cell {
  readonly fault: string;
  /** Whose answers are spoiled; the victim's other resource is answered well. */
  readonly resource: Resource;
  /** Answers to the victim's requests. */
  readonly answer: (request: Pick<FaultRequest, 'nth' | 'headers'>) => Answer;
  /** Left out: archived. */
  readonly error?: RegExp;
  /** Left out: archived without a doubt. */
  readonly doubt?: string;
  /** Content of the victim's object; left out: it is not looked at. */
  readonly stored?: string;
  /** Requests made to the service; left out: 1. */
  readonly requests?: number;
  readonly options?: Partial<RealCollectorOptions>;
  readonly throttled?: number;
}

const victim = 'victim';
const record = logRecord({ uid: victim });
const tooLarge = logRecord({ uid: victim, log: 'a'.repeat(2 ** 20) });
const text = { 'Content-Type': 'text/plain' };
const html = { 'Content-Type': 'text/html; charset=utf-8' };
/** Only the limit that is to pass is short: a busy machine must not take a good answer for a slow one. */
const shortHead = { timeLimits: { responseMs: 150 } };
const shortBody = { timeLimits: { idleMs: 60 } };
/** For a fault that a good answer to the same request follows. */
const fairBody = { timeLimits: { idleMs: 700 } };
const gaveUp = `gave up after ${maxRequests} requests`;
const always = (answer: Answer) => () => answer;
const once =
  (answer: Answer) =>
  ({ nth }: Pick<FaultRequest, 'nth'>) =>
    nth === 1 ? answer : ok(record);

/** A fault that lasts, and is worth asking again. */
const lasting = (fault: string, answer: Answer, reason: string, options?: Partial<RealCollectorOptions>): Cell => ({
  fault: `${fault}, for ever`,
  resource: 'log',
  answer: always(answer),
  error: new RegExp(`^GET features/logFetcher of cluster victim failed: ${reason}.*; ${gaveUp}$`),
  requests: maxRequests,
  options,
});

/** The same fault once. */
const passing = (fault: string, answer: Answer, options?: Partial<RealCollectorOptions>): Cell => ({
  fault: `${fault}, once`,
  resource: 'log',
  answer: once(answer),
  requests: 2,
  options,
});

/** An answer that asking again does not change. */
const final = (fault: string, answer: Answer, error: RegExp, resource: Resource = 'log'): Cell => ({
  fault,
  resource,
  answer: always(answer),
  error,
});

const noRecord = (reason: string) =>
  new RegExp(`^GET features/logFetcher of cluster victim answered 200 OK, but the .*${reason}`);
const noManifest = (reason: string) =>
  new RegExp(`^GET assets/manifest of cluster victim answered 200 OK, but .*${reason}`);
const noEnd = /^GET assets\/manifest .* declares no end of its body/;
const failedWith = (reason: string) => new RegExp(`^GET features/logFetcher of cluster victim failed: ${reason}`);
const unknownCoding = failedWith('200 OK, but its Content-Encoding "x-unheard-of"');

/** The record with its Content-Encoding, already applied. */
const coded = (coding: string, body: string | Buffer) =>
  ok(body, { 'Content-Type': 'application/json', 'Content-Encoding': coding });

const unheardOf = coded('x-unheard-of', record);

const codedRecords: Record<string, Answer> = {
  'a log in gzip': inGzip(record),
  'a log in no coding, under the name none': coded('none', record),
  'a log in identity and gzip': coded('Identity, GZip', gzipSync(record)),
};

/** `receive.test.ts` has more of them, each refused in the same way. */
const damagedStreams = Object.entries(damagedGzipStreams(record)).filter(([fault]) =>
  ['cut in its data', 'with a wrong checksum', 'followed by text', 'whose second member is cut'].includes(fault),
);

const cells: Cell[] = [
  lasting('a reset before the headers', resetBeforeHeaders(), 'no answer \\(ECONNRESET\\)'),
  lasting('a reset in the middle of the body', resetMidBody(record), 'its body was cut short or damaged'),
  passing('a reset in the middle of the body', resetMidBody(record)),
  lasting('a body shorter than its Content-Length', truncatedLength(record), 'its body was cut short or damaged'),
  lasting('a chunked body without its end', truncatedChunked(record), 'its body was cut short or damaged'),
  lasting('headers that trickle', slowHeaders(), 'no answer in 0.15 s', shortHead),
  lasting('a body that stalls', stalledBody(record), 'less than 1024 bytes of its body in 0.06 s', shortBody),
  lasting('a body that trickles', tricklingBody(record), 'less than 1024 bytes of its body in 0.06 s', shortBody),
  passing('a body that stalls', stalledBody(record), fairBody),

  final('200 with an HTML page as a log', ok(htmlPage(), html), noRecord('')),
  final('200 with an HTML page as a manifest', ok(htmlPage(), text), noManifest('HTML'), 'manifest'),
  final('200 with an error document as a manifest', ok(errorDocument()), noManifest('object'), 'manifest'),
  final('200 with an empty manifest', ok('', text), noManifest('empty'), 'manifest'),
  final('204', reply(204), failedWith('204 No Content$')),
  final('a record of another cluster', ok(logRecord({ uid: 'another' })), noRecord('another')),
  {
    fault: 'invalid UTF-8 in the log',
    resource: 'log',
    answer: always(ok(Buffer.from(logRecord({ uid: victim, log: 'gr\xf6\xdfe' }), 'latin1'))),
    doubt: 'it has bytes that are not UTF-8',
  },
  {
    fault: '200 with a JSON string and an error behind it',
    resource: 'manifest',
    answer: always(ok(`"kind: Cluster\\n"${errorDocument()}`)),
    doubt: 'it is declared as JSON and starts like JSON, but is not valid JSON',
    requests: 2,
  },
  ...Object.entries(codedRecords).map(
    ([fault, answer]): Cell => ({ fault, resource: 'log', answer: always(answer), stored: record }),
  ),
  ...Object.entries({ br: brotliCompressSync, deflate: deflateSync }).map(
    ([coding, encode]): Cell => ({
      fault: `a log in ${coding}, which nobody asked for, from a service that can send plain bytes too`,
      resource: 'log',
      answer: ({ headers }) => (headers['accept-encoding'] === 'identity' ? ok(record) : coded(coding, encode(record))),
      stored: record,
      requests: 2,
    }),
  ),
  // Once with gzip accepted, and once without.
  {
    ...final(
      'two codings, one in the other',
      coded('gzip, br', brotliCompressSync(gzipSync(record))),
      failedWith('200 OK, but its Content-Encoding "gzip, br" is not "gzip", the only one that was asked for'),
    ),
    requests: 2,
  },
  { ...final('an unknown Content-Encoding', unheardOf, unknownCoding), requests: 2 },
  ...damagedStreams.map(([fault, body]) =>
    lasting(`gzip ${fault}`, coded('gzip', body), '(?:its body was cut short or damaged|its body has bytes behind)'),
  ),
  {
    fault: 'a manifest in gzip with bytes behind it, from a service that can send plain bytes too',
    resource: 'manifest',
    answer: ({ headers }) =>
      headers['accept-encoding'] === 'identity'
        ? ok(manifestText(victim), text)
        : ok(Buffer.concat([gzipSync(manifestText(victim)), Buffer.alloc(9)]), { ...text, 'Content-Encoding': 'gzip' }),
    requests: 2,
  },
  final('a manifest without a declared end', endedByClosing('kind: Cluster\n'), noEnd, 'manifest'),
  final(
    'a cut manifest under Transfer-Encoding: identity',
    endedByClosing('kind: Cluster\nna', 'Transfer-Encoding: identity'),
    noEnd,
    'manifest',
  ),
  ...['chunked, identity', 'gzip', 'chunked, gzip', 'gzip, chunked', 'x-unheard-of'].map((coding) =>
    final(
      `a manifest under Transfer-Encoding: ${coding}`,
      endedByClosing('0\r\n\r\n', `Transfer-Encoding: ${coding}`),
      new RegExp(`its Transfer-Encoding "${coding}" is not "chunked"`),
      'manifest',
    ),
  ),
  {
    fault: 'a log record under Transfer-Encoding: identity',
    resource: 'log',
    answer: always(endedByClosing(record, 'Transfer-Encoding: identity')),
  },
  { fault: 'a log record without a declared end', resource: 'log', answer: always(endedByClosing(record)) },
  final('a cut log record without a declared end', endedByClosing(record.slice(0, -9)), noRecord('')),

  final('400', status(400), failedWith('400 Bad Request; if this is a port of TLS, .* https; asked http://\\S+$')),
  final('403 for one cluster', status(403), failedWith('403 Forbidden; set an API key that may read this cluster')),
  final('401 for one cluster', status(401), failedWith('401 Unauthorized; set a valid API key')),
  final('404', status(404), failedWith('404 Not Found; if all clusters answer so, check service.baseUrl ')),
  final('an unknown status', status(299), failedWith('299 an unknown status$')),
  lasting('408', status(408), '408 Request Timeout'),
  passing('500', status(500)),
  lasting('a storm of 503', status(503), '503 Service Unavailable'),
  { ...lasting('429 without Retry-After', throttled(), '429 Too Many Requests'), throttled: maxRequests },
  { ...passing('429 without Retry-After', throttled()), throttled: 1 },
  { ...passing('429 with Retry-After in seconds', throttled('7')), throttled: 1 },
  { ...passing('429 with a Retry-After that is garbage', throttled('soon')), throttled: 1 },
  { ...passing('503 with Retry-After', throttled('7', 503)), throttled: 1 },
  {
    fault: '429 with an absurd Retry-After',
    resource: 'log',
    answer: always(throttled('86400')),
    error: failedWith("429 Too Many Requests.*; the next request would be due in 86400 s, after this attempt's time$"),
    throttled: 1,
  },
  ...Object.entries({ 'a gzip bomb': inGzip(tooLarge), 'a plain body': ok(tooLarge) }).map(
    ([fault, answer]): Cell => ({
      ...final(
        `${fault} of more than limits.maxBodyMiB`,
        answer,
        noRecord('body has more than 1048576 bytes; raise limits.maxBodyMiB if that is right$'),
      ),
      options: { limits: { maxBodyMiB: 1 } },
    }),
  ),
];

const goodAnswer = (resource: Resource, uid: string) =>
  resource === 'log' ? ok(logRecord({ uid })) : ok(manifestText(uid), text);

/** A body that ends with its connection, as HTTP/1.0 had it. */
function endedByClosing(body: string | Buffer, ...headers: string[]): Answer {
  const head = ['HTTP/1.1 200 OK', 'Content-Type: text/plain', 'Connection: close', ...headers, '', ''].join('\r\n');
  return ({ socket }) => {
    socket.end(Buffer.concat([Buffer.from(head), Buffer.from(body)]));
  };
}

let service: FaultService;
let collector: RealCollector;

async function start(cell: Pick<Cell, 'resource' | 'answer' | 'options'>, options: Partial<RealCollectorOptions> = {}) {
  service = await startFaultService((request) => {
    const { uid = '', resource = 'log' } = request;
    return uid === victim && resource === cell.resource ? cell.answer(request) : goodAnswer(resource, uid);
  });
  const clusters = [{ uid: victim }, { uid: 'healthy' }];
  collector = await RealCollector.start({ service: { baseUrl: service.url }, clusters, ...cell.options, ...options });
}

afterEach(async () => {
  await collector.close();
  await service.close();
});

const keyOf = (cluster: string, resource: Resource) => objectKey({ cluster, resource, run: testRun });
const recordKey = 'runs/date=2026-11-20/20261120T100000.000Z.attempt-1.jsonl';

it.each(cells)('$fault ($resource)', async (cell) => {
  await start(cell);
  const { error, outcomes, summary, throttled: throttledAnswers } = await collector.attempt();

  const outcome = outcomes.find(({ cluster, resource }) => cluster === victim && resource === cell.resource);
  expect(outcome?.requests).toBe(cell.requests ?? 1);
  expect(throttledAnswers).toBe(cell.throttled ?? 0);
  const expected = [victim, 'healthy'].flatMap((uid) => firstResources.map((resource) => keyOf(uid, resource)));
  if (cell.error === undefined) {
    expect(outcome).toMatchObject({ outcome: 'archived', httpStatus: 200 });
    expect([outcome?.doubt, summary?.counts.doubts]).toEqual([cell.doubt, cell.doubt && 1]);
    expect(error).toBeUndefined();
    const stored = (await collector.objects()).get(keyOf(victim, cell.resource));
    expect(stored?.toString()).toBe(cell.stored ?? stored?.toString());
  } else {
    expected.splice(expected.indexOf(keyOf(victim, cell.resource)), 1);
    expect(outcome).toMatchObject({ outcome: 'failed', error: expect.stringMatching(cell.error) });
    expect(outcome).not.toHaveProperty('key');
    if (/ 200 OK/.test(outcome?.error ?? '')) expect(outcome?.httpStatus).toBe(200);
    expect(error?.message).toContain(`- ${cell.resource} of cluster victim: `);
  }
  const objects = await collector.objects();
  expect([...objects.keys()]).toEqual([...expected, recordKey].sort());
  expect(await collector.records()).toMatchObject([{ outcomes, counts: summary?.counts }]);
  expect(await collector.spooled()).toEqual([]);
});

const jsonInGzip = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
const textInGzip = { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' };
const manifest = manifestText(victim);

// `receive.test.ts` has gzip as more programs write it.
describe('an answer in gzip', () => {
  const inMembers = (content: string) =>
    gzipStreams(content)['of several members, one of them empty'] ?? Buffer.alloc(0);

  it.each<[string, Resource, string, string, typeof jsonInGzip, 'service' | 'collector']>([
    ['a log is stored as it came', 'log', record, record, jsonInGzip, 'service'],
    ['a manifest is stored as it came', 'manifest', manifest, manifest, textInGzip, 'service'],
    ['a JSON string is compressed again', 'manifest', JSON.stringify(manifest), manifest, jsonInGzip, 'collector'],
    ['what is not JSON is compressed again', 'manifest', manifest, manifest, jsonInGzip, 'collector'],
  ])('%s', async (_what, resource, body, content, headers, encodedBy) => {
    await start({ resource, answer: always(ok(inMembers(body), headers)) });
    const { outcomes } = await collector.attempt();
    const stored = (await collector.stored()).get(keyOf(victim, resource));
    expect(stored?.body).toEqual(encodedBy === 'service' ? inMembers(content) : gzipSync(content, { level: 1 }));
    expect(stored?.metadata).toMatchObject({ 'encoded-by': encodedBy, length: `${Buffer.byteLength(content)}` });
    expect(outcomes.find((one) => one.cluster === victim && one.resource === resource)).toMatchObject({
      bytes: Buffer.byteLength(content),
      receivedBytes: inMembers(body).length,
      storedBytes: stored?.body.length,
    });
  });
});

it('gzip is asked for, and nothing else', async () => {
  await start({ resource: 'log', answer: always(ok(record)) });
  await collector.attempt();
  expect(new Set(service.requests.map(({ headers }) => headers['accept-encoding']))).toEqual(new Set(['gzip']));
});

it.each([301, 302, 303, 307, 308])('%i to another origin is not followed, and the key goes nowhere', async (code) => {
  const other = await startFaultService(() => ok(record));
  await start({
    resource: 'log',
    answer: always(status(code, { Location: `${other.url}/v1/platformclusters/victim/features/logFetcher` })),
  });
  const { outcomes } = await collector.attempt();
  expect(outcomes[0]).toMatchObject({ outcome: 'failed', requests: 1, httpStatus: code });
  expect(outcomes[0]?.error).toMatch(/redirects are not followed, check service.baseUrl; asked http:/);
  expect(other.connections).toBe(0);
  await other.close();
});

describe('the key', () => {
  it('is sent as the contract says, with the project and the request id', async () => {
    await start(
      { resource: 'log', answer: always(ok(record)) },
      {
        clusters: [{ uid: victim, projectUid: 'p-1', requestId: 'r/1 ?' }],
      },
    );
    await collector.attempt();
    const [log, manifest] = [...service.requests].sort((a, b) => (a.resource ?? '').localeCompare(b.resource ?? ''));
    expect(log?.path).toBe('/v1/platformclusters/victim/features/logFetcher?requestId=r%2F1%20%3F');
    expect(manifest?.path).toBe('/v1/platformclusters/victim/assets/manifest');
    for (const { headers } of service.requests) expect(headers).toMatchObject({ apikey: testKey, projectuid: 'p-1' });
  });

  it('rotated in the middle of a run costs nobody their log', async () => {
    let valid = testKey;
    service = await startFaultService(({ uid = '', resource = 'log', headers, index }) => {
      if (index === 6) {
        valid = 'rotated-key';
        collector.setSecret(JSON.stringify({ apiKey: valid }));
      }
      return headers.apikey === valid ? goodAnswer(resource, uid) : status(401);
    });
    const clusters = Array.from({ length: 10 }, (_, i) => ({ uid: `c${i}` }));
    collector = await RealCollector.start({
      service: { baseUrl: service.url },
      clusters,
    });
    const { summary } = await collector.attempt();
    expect(summary).toMatchObject({ status: 'complete', counts: { archived: 20 } });
  });
});
