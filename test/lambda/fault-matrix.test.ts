import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';
import { objectKey } from '../../lambda/archive/archive-layout';
import { maxRequests } from '../../lambda/dispatch/retry';
import { type Resource, resourceNames } from '../../lambda/resources';
import { type Answer, type FaultRequest, type FaultService, startFaultService } from '../support/fault-service';
import {
  encoded,
  noContent,
  ok,
  redirect,
  resetBeforeHeaders,
  resetMidBody,
  slowHeaders,
  stalledBody,
  status,
  throttled,
  tricklingBody,
  truncatedChunked,
  truncatedLength,
  wronglyEncoded,
} from '../support/fault-service-answers';
import {
  deepRecord,
  errorDocument,
  gzipBomb,
  htmlPage,
  invalidUtf8Record,
  logRecord,
  manifestText,
  wrongRecords,
} from '../support/fault-service-bodies';
import { refusedAddress } from '../support/fault-service-refusal';
import { damagedGzipStreams, gzipStreams } from '../support/gzip-streams';
import { wire } from '../support/raw-service';
import { RealCollector, type RealCollectorOptions, testKey, testRun } from '../support/real-collector';

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
  /** Requests made to the service; left out: 1. */
  readonly requests?: number;
  readonly options?: Partial<RealCollectorOptions>;
  readonly throttled?: number;
}

const victim = 'victim';
const record = logRecord({ uid: victim });
const text = { 'Content-Type': 'text/plain' };
const html = { 'Content-Type': 'text/html; charset=utf-8' };
/** Only the limit that is to pass is short: a busy machine must not take a good answer for a slow one. */
const shortHead = { timeLimits: { responseMs: 150 } };
const shortBody = { timeLimits: { idleMs: 60 } };
/** For a fault that a good answer to the same request follows. */
const fairHead = { timeLimits: { responseMs: 700 } };
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
const failedWith = (reason: string) => new RegExp(`^GET features/logFetcher of cluster victim failed: ${reason}`);

/** The record with its Content-Encoding, already applied. */
const coded = (coding: string, body: string | Buffer) =>
  ok(body, { 'Content-Type': 'application/json', 'Content-Encoding': coding });

const codedRecords: Record<string, Answer> = {
  'a log in gzip': encoded('gzip', record),
  'a log in deflate': encoded('deflate', record),
  'a log in brotli': encoded('br', record),
  'a log in deflate without the frame of zlib': coded('deflate', deflateRawSync(record)),
  'a log in no coding, under the name none': coded('none', record),
  'a log in identity and gzip': coded('Identity, GZip', gzipSync(record)),
};

/** `receive-coded.test.ts` has more of them, each refused in the same way. */
const damagedStreams = Object.entries(damagedGzipStreams(record)).filter(([fault]) =>
  ['cut in its data', 'with a wrong checksum', 'followed by text', 'whose second member is cut'].includes(fault),
);

const cells: Cell[] = [
  lasting('a reset before the headers', resetBeforeHeaders(), 'no answer \\(ECONNRESET\\)'),
  passing('a reset before the headers', resetBeforeHeaders()),
  lasting('a reset in the middle of the body', resetMidBody(record), 'its body was cut short or damaged'),
  passing('a reset in the middle of the body', resetMidBody(record)),
  lasting('a body shorter than its Content-Length', truncatedLength(record), 'its body was cut short or damaged'),
  passing('a body shorter than its Content-Length', truncatedLength(record)),
  lasting('a chunked body without its end', truncatedChunked(record), 'its body was cut short or damaged'),
  passing('a chunked body without its end', truncatedChunked(record)),
  lasting('headers that trickle', slowHeaders(), 'no answer in 0.15 s', shortHead),
  passing('headers that trickle', slowHeaders(), fairHead),
  lasting('a body that stalls', stalledBody(record), 'less than 1024 bytes of its body in 0.06 s', shortBody),
  lasting('a body that trickles', tricklingBody(record), 'less than 1024 bytes of its body in 0.06 s', shortBody),
  passing('a body that stalls', stalledBody(record), fairBody),

  final('200 with an HTML page as a log', ok(htmlPage(), html), noRecord('')),
  final('200 with an HTML page as a manifest', ok(htmlPage(), text), noManifest('HTML'), 'manifest'),
  final('200 with an error document as a log', ok(errorDocument()), noRecord('metadata')),
  final('200 with an error document as a manifest', ok(errorDocument()), noManifest('object'), 'manifest'),
  final('200 with an empty log record', ok(''), noRecord('empty')),
  final('200 with an empty manifest', ok('', text), noManifest('empty'), 'manifest'),
  final('204', noContent(), failedWith('204 No Content$')),
  final('a record of another cluster', ok(logRecord({ uid: 'another' })), noRecord('another')),
  ...Object.entries(wrongRecords(victim)).map(([fault, body]) => final(`200 with ${fault}`, ok(body), noRecord(''))),
  final('invalid UTF-8 outside of the log', ok(invalidUtf8Record(victim)), noRecord('UTF-8')),
  {
    fault: 'invalid UTF-8 in the log',
    resource: 'log',
    answer: always(ok(invalidUtf8Record(victim, 'log'))),
    doubt: 'spec.log has bytes that are not UTF-8',
  },
  { fault: 'a byte order mark before the log record', resource: 'log', answer: always(ok(`\ufeff${record}`)) },
  {
    fault: 'a log record with a long state',
    resource: 'log',
    answer: always(ok(logRecord({ uid: victim, state: 'x'.repeat(5000) }))),
    doubt: 'status.state is longer than 4096 characters and recorded in part',
  },
  final('200 with metadata beside an error', ok('{"metadata":{},"error":"not found"}'), noRecord('it has error')),
  final('200 with an error as text', ok(errorDocument(), text), noManifest('an error document'), 'manifest'),
  {
    fault: '200 with a JSON string and an error behind it',
    resource: 'manifest',
    answer: always(ok(`"kind: Cluster\\n"${errorDocument()}`)),
    doubt: 'it begins like JSON and is none, under a JSON media type; something follows its JSON',
    requests: 2,
  },
  { fault: 'a manifest under text/html', resource: 'manifest', answer: always(ok('kind: A\n', html)) },
  {
    fault: 'one line that reads like an error',
    resource: 'manifest',
    answer: always(ok('404 page not found\n', text)),
    doubt: 'it is one line that reads like an error message',
  },
  final('deep nesting', ok(deepRecord(victim, 2000)), noRecord('1,?000')),
  final('a JSON string that breaks off', ok('"apiVersion: v1\\n'), noManifest(''), 'manifest'),

  ...Object.entries(codedRecords).map(([fault, answer]): Cell => ({ fault, resource: 'log', answer: always(answer) })),
  ...['gzip', 'deflate', 'br'].map((coding) =>
    lasting(`no bytes in ${coding}`, coded(coding, ''), 'its body was cut short'),
  ),
  lasting(
    'raw deflate that is cut',
    coded('deflate', deflateRawSync(record).subarray(0, -9)),
    'its body was cut short',
  ),
  // Once with gzip accepted, and once without.
  {
    ...final(
      'two codings, one in the other',
      coded('gzip, br', brotliCompressSync(gzipSync(record))),
      failedWith('200 OK, but its Content-Encoding "gzip, br" is none of gzip, deflate, br'),
    ),
    requests: 2,
  },
  {
    ...final(
      'an unknown Content-Encoding',
      wronglyEncoded(record),
      failedWith('200 OK, but its Content-Encoding "x-unheard-of"'),
    ),
    requests: 2,
  },
  {
    ...final(
      'an unknown Content-Encoding although none is accepted',
      wronglyEncoded(record),
      failedWith('200 OK, but its Content-Encoding "x-unheard-of"'),
    ),
    options: { acceptCompressed: false },
  },
  ...damagedStreams.flatMap(([fault, body]) => [
    lasting(`gzip ${fault}`, coded('gzip', body), '(?:its body was cut short or damaged|its body has bytes behind)'),
    passing(`gzip ${fault}`, coded('gzip', body)),
  ]),
  ...damagedStreams.map(
    ([fault, body]): Cell => ({
      fault: `gzip ${fault}, from a service that can send plain bytes too`,
      resource: 'log',
      answer: ({ headers }) => (headers['accept-encoding'] === 'identity' ? ok(record) : coded('gzip', body)),
      requests: 2,
    }),
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
  lasting(
    'a damaged gzip stream',
    wronglyEncoded(record, 'gzip'),
    'its body was cut short or damaged \\(Z_DATA_ERROR\\)',
  ),

  final(
    'a manifest without a declared end',
    endedByClosing('kind: Cluster\n'),
    /^GET assets\/manifest .* declares no end of its body/,
    'manifest',
  ),
  ...['identity', 'chunked, identity'].map((coding) =>
    final(
      `a cut manifest under Transfer-Encoding: ${coding}`,
      endedByClosing('kind: Cluster\nna', `Transfer-Encoding: ${coding}`),
      coding === 'identity' ? /declares no end of its body/ : /its Transfer-Encoding "chunked, identity" is not/,
      'manifest',
    ),
  ),
  ...['gzip', 'chunked, gzip', 'x-unheard-of'].map((coding) =>
    final(
      `a cut manifest under Transfer-Encoding: ${coding}`,
      endedByClosing(gzipSync('kind: Cluster\n').subarray(0, 20), `Transfer-Encoding: ${coding}`),
      new RegExp(`its Transfer-Encoding "${coding}" is not "chunked"`),
      'manifest',
    ),
  ),
  final(
    'a manifest under Transfer-Encoding: gzip, chunked',
    ({ socket }) => {
      const packed = gzipSync('kind: Cluster\n');
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n');
      socket.write(`${packed.length.toString(16)}\r\n`);
      socket.end(Buffer.concat([packed, Buffer.from('\r\n0\r\n\r\n')]));
    },
    /its Transfer-Encoding "gzip, chunked" is not "chunked"/,
    'manifest',
  ),
  {
    fault: 'a log record under Transfer-Encoding: identity',
    resource: 'log',
    answer: always(endedByClosing(record, 'Transfer-Encoding: identity')),
  },
  followed('a Content-Length that counts characters', wire('ä'.repeat(100)).replace('Length: 200', 'Length: 100')),
  followed('a Content-Length without the last line feed', wire('kind: Cluster\n').replace('Length: 14', 'Length: 13')),
  followed('an answer sent twice', wire('kind: Cluster\n').repeat(2)),
  { fault: 'a log record without a declared end', resource: 'log', answer: always(endedByClosing(record)) },
  final('a cut log record without a declared end', endedByClosing(record.slice(0, -9)), noRecord('')),

  final('400', status(400), failedWith('400 Bad Request; asked http://\\S+$')),
  final('403 for one cluster', status(403), failedWith('403 Forbidden; set an API key that may read this cluster')),
  final('401 for one cluster', status(401), failedWith('401 Unauthorized; set a valid API key')),
  final('404', status(404), failedWith('404 Not Found; remove the cluster from the configuration if it is gone')),
  final('an unknown status', status(299), failedWith('299 an unknown status$')),
  lasting('408', status(408), '408 Request Timeout'),
  passing('408', status(408)),
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
  {
    fault: 'a manifest that begins like a JSON string and is none',
    resource: 'manifest',
    answer: always(ok('"apiVersion": v1\n')),
    doubt: 'it begins like JSON and is none, under a JSON media type',
    requests: 2,
  },
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

/** A manifest with more bytes behind it than it declares, however often it is asked for. */
function followed(fault: string, bytes: string): Cell {
  return {
    fault,
    resource: 'manifest',
    answer: always(({ socket }) => {
      socket.write(bytes);
    }),
    error: new RegExp(`failed: more bytes came than its Content-Length declares: .*; ${gaveUp}$`),
    requests: maxRequests,
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

const keyOf = (cluster: string, resource: Resource) =>
  objectKey({ cluster, resource, run: testRun, compression: 'gzip' });
const recordKey = 'runs/date=2026-11-20/20261120T100000.000Z.attempt-1.jsonl';

it.each(cells)('$fault ($resource)', async (cell) => {
  await start(cell);
  const { error, outcomes, summary, throttled: throttledAnswers } = await collector.attempt();

  const outcome = outcomes.find(({ cluster, resource }) => cluster === victim && resource === cell.resource);
  expect(outcome?.requests).toBe(cell.requests ?? 1);
  expect(throttledAnswers).toBe(cell.throttled ?? 0);
  const expected = [victim, 'healthy'].flatMap((uid) => resourceNames.map((resource) => keyOf(uid, resource)));
  if (cell.error === undefined) {
    expect(outcome).toMatchObject({ outcome: 'archived', httpStatus: 200 });
    expect([outcome?.doubt, summary?.counts.doubts]).toEqual([cell.doubt, cell.doubt && 1]);
    expect(error).toBeUndefined();
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

it.each(Object.entries(codedRecords))('%s is archived as it was before the coding', async (_name, answer) => {
  await start({ resource: 'log', answer: always(answer) });
  await collector.attempt();
  expect((await collector.objects()).get(keyOf(victim, 'log'))?.toString()).toBe(record);
});

const jsonInGzip = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
const textInGzip = { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' };
const manifest = manifestText(victim);

// `receive-coded.test.ts` has gzip as more programs write it.
describe.each(['of level 6', 'of several members, one of them empty'])('an answer in gzip %s', (form) => {
  const inGzip = (content: string) => gzipStreams(content)[form] ?? Buffer.alloc(0);

  it.each<[string, Resource, string, Answer]>([
    ['log', 'log', record, ok(inGzip(record), jsonInGzip)],
    ['log in chunks', 'log', record, ok([inGzip(record).subarray(0, 30), inGzip(record).subarray(30)], jsonInGzip)],
    ['manifest', 'manifest', manifest, ok(inGzip(manifest), textInGzip)],
  ])('is stored as it came: a %s', async (_what, resource, content, answer) => {
    await start({ resource, answer: always(answer) });
    const { outcomes } = await collector.attempt();
    const stored = (await collector.stored()).get(keyOf(victim, resource));
    expect(stored?.body.equals(inGzip(content))).toBe(true);
    expect(stored?.metadata).toMatchObject({ 'encoded-by': 'service', length: `${Buffer.byteLength(content)}` });
    expect(outcomes.find((one) => one.cluster === victim && one.resource === resource)).toMatchObject({
      bytes: Buffer.byteLength(content),
      receivedBytes: inGzip(content).length,
      storedBytes: inGzip(content).length,
    });
  });

  it.each([
    ['that is a JSON string', JSON.stringify(manifest)],
    ['that is no JSON, under its media type', manifest],
  ])('is compressed by the collector: a manifest %s', async (_what, body) => {
    await start({ resource: 'manifest', answer: always(ok(inGzip(body), jsonInGzip)) });
    const { outcomes } = await collector.attempt();
    const stored = (await collector.stored()).get(keyOf(victim, 'manifest'));
    expect(stored?.metadata).toMatchObject({ 'encoded-by': 'collector', length: `${Buffer.byteLength(manifest)}` });
    expect(stored?.body.equals(gzipSync(manifest, { level: 1 }))).toBe(true);
    expect(outcomes.find((one) => one.cluster === victim && one.resource === 'manifest')).toMatchObject({
      bytes: Buffer.byteLength(manifest),
      receivedBytes: inGzip(body).length,
      storedBytes: stored?.body.length,
    });
  });
});

it.each([
  [undefined, 'gzip'],
  [true, 'gzip'],
  [false, 'identity'],
])('service.acceptCompressed %s asks for %s', async (acceptCompressed, accepted) => {
  await start({ resource: 'log', answer: always(ok(record)) }, { acceptCompressed });
  await collector.attempt();
  expect(new Set(service.requests.map(({ headers }) => headers['accept-encoding']))).toEqual(new Set([accepted]));
});

it('a connection that is refused fails every cluster and archives nothing', async () => {
  await start({ resource: 'log', answer: always(ok(record)) });
  await collector.close();
  const refused = await refusedAddress();
  collector = await RealCollector.start({ service: { baseUrl: refused.url }, clusters: [{ uid: victim }] });
  const { outcomes, error: thrown } = await collector.attempt();
  for (const { outcome, error, requests } of outcomes) {
    expect([outcome, error]).toEqual(['failed', expect.stringContaining('no answer (ECONNREFUSED)')]);
    // Its own first, and five rounds of probes.
    expect(requests).toBeLessThanOrEqual(1 + maxRequests);
  }
  expect(thrown?.message).toContain(
    'It ended early: the service looks down: no usable answer for the only cluster left',
  );
  expect([...(await collector.objects()).keys()]).toEqual([recordKey]);
  await refused.release();
});

it.each([
  'gzip bomb',
  'plain body',
])('a %s of more than limits.maxBodyMiB is refused at the limit of decoded bytes', async (kind) => {
  const bytes = 40 * 1024 * 1024;
  const bomb = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
  const plain = [
    Buffer.from(record.slice(0, -40)),
    ...Array.from({ length: 40 }, () => Buffer.alloc(1024 * 1024, 'a')),
  ];
  const answer = () => (kind === 'gzip bomb' ? ok(gzipBomb({ uid: victim, bytes }), bomb) : ok(plain));
  await start({ resource: 'log', answer, options: { limits: { maxBodyMiB: 1 } } });
  const { outcomes } = await collector.attempt();
  const [outcome] = outcomes;
  expect(outcome).toMatchObject({ outcome: 'failed', requests: 1, httpStatus: 200 });
  expect(outcome?.error).toMatch(
    /failed: its body has more than 1048576 bytes; raise limits.maxBodyMiB if that is right$/,
  );
  expect([...(await collector.objects()).keys()]).not.toContain(keyOf(victim, 'log'));
  expect(await collector.spooled()).toEqual([]);
});

it.each([
  301, 302, 303, 307, 308,
] as const)('%i to another origin is not followed, and the key goes nowhere', async (code) => {
  const other = await startFaultService(() => ok(record));
  await start({
    resource: 'log',
    answer: always(redirect(code, `${other.url}/v1/platformclusters/victim/features/logFetcher`)),
  });
  const { outcomes } = await collector.attempt();
  expect(outcomes[0]).toMatchObject({ outcome: 'failed', requests: 1, httpStatus: code });
  expect(outcomes[0]?.error).toMatch(/redirects are not followed, check service.baseUrl; asked http:/);
  expect(other.connections).toBe(0);
  await other.close();
});

it('429 with a Retry-After date waits until then, and everybody waits', async () => {
  const inTwoMinutes = () => new Date(Date.now() + 120_000).toUTCString();
  const answer: Cell['answer'] = ({ nth }) => (nth === 1 ? throttled(inTwoMinutes()) : ok(record));
  await start({ resource: 'log', answer }, { limits: { concurrency: 1 } });
  const { slept, outcomes } = await collector.attempt();
  expect(outcomes[0]).toMatchObject({ outcome: 'archived', requests: 2 });
  const sleptMs = slept.reduce((sum, ms) => sum + ms, 0);
  expect(sleptMs).toBeGreaterThan(110_000);
  expect(sleptMs).toBeLessThanOrEqual(120_000);
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
    for (const { headers } of service.requests)
      expect(headers).toMatchObject({ apikey: testKey, projectuid: 'p-1', accept: 'application/json' });
  });

  it('rotated in the middle of a run costs nobody their log, and is read again once', async () => {
    let readings = 0;
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
      intercept: ({ service: name }) => {
        if (name === 'secretsmanager') readings += 1;
        return undefined;
      },
    });
    const { summary } = await collector.attempt();
    expect(summary).toMatchObject({ status: 'complete', counts: { archived: 20 } });
    expect(readings).toBe(2);
  });

  it('rejected for ever ends the run after ten clusters rather than asking for every one', async () => {
    service = await startFaultService(() => status(401));
    const clusters = Array.from({ length: 40 }, (_, i) => ({ uid: `c${i}` }));
    collector = await RealCollector.start({ service: { baseUrl: service.url }, clusters, limits: { concurrency: 2 } });
    const { summary, error, outcomes } = await collector.attempt();
    expect(error?.message).toContain(
      'the service rejected the API key for 10 different clusters from all over the list',
    );
    expect(service.requests.length).toBeLessThanOrEqual(16);
    expect(summary?.counts.notAttempted).toBe(80 - service.requests.length);
    expect(outcomes).toHaveLength(80);
    expect([...(await collector.objects()).keys()]).toEqual([recordKey]);
  });

  it('that may not read one project leaves the other clusters alone', async () => {
    service = await startFaultService(({ uid = '', resource = 'log', headers }) =>
      headers.projectuid === 'closed' ? status(403) : goodAnswer(resource, uid),
    );
    const clusters = Array.from({ length: 12 }, (_, i) => ({
      uid: `c${i}`,
      ...(i % 3 === 0 ? { projectUid: 'closed' } : {}),
    }));
    collector = await RealCollector.start({ service: { baseUrl: service.url }, clusters });
    const { summary } = await collector.attempt();
    expect(summary?.counts).toMatchObject({ archived: 16, failed: 8, notAttempted: 0 });
  });

  it('is not blamed for eight clusters at the head of the list that it may not read', async () => {
    service = await startFaultService(({ uid = '', resource = 'log' }) =>
      Number(uid.slice(1)) < 8 ? status(403) : goodAnswer(resource, uid),
    );
    const clusters = Array.from({ length: 40 }, (_, i) => ({ uid: `c${i}` }));
    collector = await RealCollector.start({ service: { baseUrl: service.url }, clusters });
    const { summary, error } = await collector.attempt();
    expect(summary?.counts).toMatchObject({ archived: 64, failed: 16, notAttempted: 0 });
    expect(error?.message).not.toContain('It ended early');
  });

  it('is not blamed in a second attempt that has only forbidden clusters left', async () => {
    service = await startFaultService(({ uid = '', resource = 'log' }) =>
      Number(uid.slice(1)) % 12 === 0 ? status(403) : goodAnswer(resource, uid),
    );
    const clusters = Array.from({ length: 60 }, (_, i) => ({ uid: `c${i}` }));
    collector = await RealCollector.start({ service: { baseUrl: service.url }, clusters });
    const first = await collector.attempt();
    expect(first.summary?.counts).toMatchObject({ archived: 110, failed: 10, notAttempted: 0 });
    const second = await collector.attempt();
    expect(second.summary?.counts).toMatchObject({ alreadyArchived: 110, failed: 10, notAttempted: 0 });
    expect(second.error?.message).not.toContain('It ended early');
  });

  it("rotated right after a cluster's own 403 costs nobody their log", async () => {
    let valid = testKey;
    service = await startFaultService(({ uid = '', resource = 'log', headers, index }) => {
      if (index === 10) {
        valid = 'rotated-key';
        collector.setSecret(valid);
      }
      if (headers.apikey !== valid) return status(401);
      return uid === 'c0' ? status(403) : goodAnswer(resource, uid);
    });
    const clusters = Array.from({ length: 21 }, (_, i) => ({ uid: `c${i}` }));
    collector = await RealCollector.start({ service: { baseUrl: service.url }, clusters });
    const { summary } = await collector.attempt();
    expect(summary?.counts).toMatchObject({ archived: 40, failed: 2, notAttempted: 0 });
  });

  it('that Secrets Manager does not give again fails the rejected cluster and not the run', async () => {
    let readings = 0;
    service = await startFaultService(({ uid = '', resource = 'log' }) =>
      uid === victim ? status(403) : goodAnswer(resource, uid),
    );
    collector = await RealCollector.start({
      service: { baseUrl: service.url },
      clusters: [{ uid: victim, resources: ['log'] }, ...Array.from({ length: 10 }, (_, i) => ({ uid: `c${i}` }))],
      // So that the key could not be read again before the others are asked.
      limits: { concurrency: 1 },
      intercept: ({ service: name }) => {
        if (name !== 'secretsmanager') return undefined;
        readings += 1;
        return readings === 1 ? undefined : { kind: 'error', status: 400, code: 'ThrottlingException' };
      },
    });
    const { summary, outcomes } = await collector.attempt();
    expect(summary?.counts).toMatchObject({ archived: 20, failed: 1, notAttempted: 0 });
    expect(outcomes[0]?.error).toMatch(
      /failed: 403 Forbidden; .*; the key could not be read again: Reading the API key .* failed: ThrottlingException/,
    );
  });
});
