import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type ListeningServer, listenLocally } from '../../../local/listen-locally';

const former = { ...process.env };
const published: string[] = [];
let server: ListeningServer;
let handler: (event: unknown) => Promise<void>;

beforeAll(async () => {
  server = await listenLocally(
    createServer((request, response) => {
      void text(request).then((body) => {
        published.push(new URLSearchParams(body).get('TopicArn') ?? '');
        response.end('<PublishResponse><PublishResult><MessageId>m</MessageId></PublishResult></PublishResponse>');
      });
    }),
  );
  Object.assign(process.env, {
    ...{ AWS_ENDPOINT_URL: server.url, AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' },
    ...{ POWERTOOLS_SERVICE_NAME: 'fleet', TOPIC_ARN: 'arn:page', RUN_TOPIC_ARN: 'arn:inform', PAGE_FROM_PERCENT: '5' },
  });
  ({ handler } = await import('../../../lambda/notify/handler'));
});
afterAll(async () => {
  process.env = former;
  await server.close();
});

const scheduledTime = '2026-11-20T10:00:00Z';
const functionArn = 'arn:aws:lambda:eu-central-1:111122223333:function:collector:$LATEST';
const dropped = (requestPayload: object, errorType: string, errorMessage = '') => ({
  requestContext: { functionArn, condition: 'RetriesExhausted', approximateInvokeCount: 3 },
  requestPayload,
  responsePayload: { errorType, errorMessage },
});
const missing = (share: string) => `Attempt 1 of run x is incomplete (${share} not archived): 1 failed.`;

const ofRun = { scheduledTime };
it.each<[string, object, string, number[] | undefined]>([
  ['less than pages', dropped(ofRun, 'RunIncompleteError', missing('49 of 1000')), 'inform', [4.9, 0]],
  ['as much as pages', dropped(ofRun, 'RunIncompleteError', missing('50 of 1000')), 'page', [5, 0]],
  ['nobody knows how much', dropped(ofRun, 'Sandbox.Timedout'), 'page', [100, 0]],
  ['nothing but its list', dropped(ofRun, 'ClusterListError'), 'inform', [0, 1]],
  [
    'all of what a person asked for',
    dropped({ clusters: ['a'] }, 'RunIncompleteError', missing('1 of 1')),
    'inform',
    undefined,
  ],
  ['an audit', dropped({ scheduledTime, audit: true }, 'ArchiveReadError'), 'page', undefined],
  ['what nobody knows', { anything: 1 }, 'page', undefined],
])('a run of which is missing %s is told to the group of its alarm, and counted', async (_, event, group, counted) => {
  const print = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  published.length = 0;
  await handler(event);
  const printed = print.mock.calls.map(([line]) => String(line)).join('');
  print.mockRestore();
  const lines = printed.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)));
  expect(published).toEqual([`arn:${group}`]);
  expect(lines.map(({ MissingPercent, ListRefused, service }) => [MissingPercent, ListRefused, service])).toEqual(
    counted === undefined ? [] : [[...counted, 'fleet']],
  );
});
