import { gunzipSync } from 'node:zlib';
import { type BundledCollector, type BundleOptions, bundledKey, useBundle } from '../support/bundled-collector';
import type { Answer, Script } from '../support/fault-service';
import { ok, reply } from '../support/fault-service-answers';
import { logRecord } from '../support/fault-service-bodies';
import { tracesOf } from '../support/traces-of';

/** The key is looked for in everything that runs of the real bundle leave behind, in every form it may take. */

const run = '2026-11-20T10:00:00.000Z';
// As many as it takes for the key itself to be blamed.
const uids = Array.from({ length: 6 }, (_, i) => `cluster-${i}`);

let script: Script;
let collector: BundledCollector;
const bundle = useBundle((request) => script(request));

function start(options: Partial<BundleOptions> = {}): Promise<BundledCollector> {
  return bundle.start({
    ...options,
    collection: { clusters: uids.map((uid) => ({ uid })), limits: { concurrency: 4 } },
  });
}

/** Everything that was written anywhere. */
async function leftBehind(): Promise<string> {
  const objects = [...(await collector.objects())].flatMap(([key, { body, metadata }]) => [
    key,
    JSON.stringify(metadata),
    (key.endsWith('.gz') ? gunzipSync(body) : body).toString('latin1'),
  ]);
  return [...objects, ...collector.lines, JSON.stringify(collector.outcomes)].join('\n');
}

const good: Script = ({ uid = '', resource }) => (resource === 'log' ? ok(logRecord({ uid })) : ok('"a manifest"'));
/** What a debugging proxy answers: the request, as JSON and as text. */
const echo =
  (status: number, asJson: boolean): Answer =>
  (exchange) => {
    const { headers } = exchange.request;
    const body = asJson ? JSON.stringify({ headers, [String(headers.apikey)]: headers.apikey }) : rawHeaders(headers);
    return reply(status, body, { 'Content-Type': 'application/json', 'X-Echo': String(headers.apikey) })(exchange);
  };
const rawHeaders = (headers: object) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

it.each<[string, Script, RegExp]>([
  ['all is well', good, /"status":"complete"/],
  [
    'the service echoes what it refuses',
    (request) => (request.uid === 'cluster-0' ? echo(404, true) : good(request)),
    /404 Not Found/,
  ],
  ['the service echoes the key it rejects', () => echo(401, false), /rejected the API key/],
  [
    'the service echoes the request as a log record',
    (request) => (request.resource === 'log' ? echo(200, true) : good(request)),
    /\[the API key\]/,
  ],
  [
    'the record is of a cluster that has the name of the key',
    (request) => (request.resource === 'log' ? ok(logRecord({ uid: String(request.headers.apikey) })) : good(request)),
    /belongs to another cluster/,
  ],
  [
    'the connection breaks',
    () =>
      ({ reset }) =>
        reset(),
    /ECONNRESET/,
  ],
])('the key is nowhere when %s', async (_name, answers, evidence) => {
  script = answers;
  collector = await start();
  await (await collector.startProcess()).invoke({ scheduledTime: run });
  expect(String(bundle.service.requests.at(-1)?.headers.apikey)).toBe(bundledKey);
  const everything = await leftBehind();
  // Otherwise this shows nothing: the run has left what it was made to leave.
  expect(everything).toMatch(evidence);
  expect(tracesOf(bundledKey).filter((trace) => everything.includes(trace))).toEqual([]);
});

it.each([
  ['is JSON without the member', JSON.stringify({ key: bundledKey })],
  ['is no JSON after all', `{"apiKey":${JSON.stringify(bundledKey)}`],
  ['has a character that no header can carry', `${bundledKey}\u0000`],
])('a secret that %s is nowhere', async (_name, secret) => {
  script = good;
  collector = await start({ secret });
  await (await collector.startProcess()).invoke({ scheduledTime: run });
  const everything = await leftBehind();
  expect(everything).toContain('put-secret-value');
  expect(tracesOf(bundledKey).filter((trace) => everything.includes(trace))).toEqual([]);
});
