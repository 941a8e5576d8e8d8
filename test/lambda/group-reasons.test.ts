import { groupReasons, reasonLines, reasonsText } from '../../lambda/group-reasons';

const failed = (cluster: string, reason: string, httpStatus?: number) => ({
  cluster,
  resource: 'log',
  error: `GET features/logFetcher of cluster ${cluster} failed: ${reason}`,
  ...(httpStatus !== undefined && { httpStatus }),
});

const refused = (cluster: string, reason: string) => ({
  cluster,
  resource: 'manifest',
  httpStatus: 200,
  error: `GET assets/manifest of cluster ${cluster} answered 200 OK, but ${reason}`,
});

describe('grouping failures by reason', () => {
  it('puts the most frequent reason first and names a few clusters, each once', () => {
    const clusters = Array.from({ length: 300 }, (_, at) => `cluster-${at}`);
    const failures = [
      failed('x', '404 Not Found; if all clusters answer so, check service.baseUrl', 404),
      ...clusters.flatMap((uid) => [
        failed(uid, `503 Service Unavailable; gave up after ${(uid.length % 4) + 1} requests`, 503),
        failed(uid, '503 Service Unavailable', 503),
      ]),
    ];
    expect(groupReasons(failures)).toEqual([
      { reason: '503 Service Unavailable', count: 600, clusters: ['cluster-0', 'cluster-1', 'cluster-2'] },
      { reason: '404 Not Found', count: 1, clusters: ['x'] },
    ]);
  });

  it.each([
    [
      'numbers in brackets',
      [
        refused('a', 'the log record is cut short (at byte 17)'),
        refused('b', 'the log record is cut short (at byte 9)'),
      ],
      '200 OK, but the log record is cut short',
    ],
    [
      'uids',
      [failed('a', 'the key has no right to cluster a'), failed('b', 'the key has no right to cluster b')],
      'the key has no right to the cluster',
    ],
    [
      'quotations',
      [refused('a', 'the log record belongs to "x"'), refused('b', 'the log record belongs to "y"')],
      '200 OK, but the log record belongs to "…"',
    ],
    [
      'times and identifiers',
      [
        failed('a', 'locked since 2026-11-20T10:00:00Z by 0b8f5f0e-5a63-4d0c-8a4f-0123456789ab, 123456 left'),
        failed('b', 'locked since 2026-11-21 11:30 by 1c8f5f0e-5a63-4d0c-8a4f-0123456789ab, 4567 left'),
      ],
      'locked since … by …, … left',
    ],
    [
      'advice',
      [failed('a', 'no answer (ECONNREFUSED); gave up after 5 requests'), failed('b', 'no answer (ECONNREFUSED)')],
      'no answer (ECONNREFUSED)',
    ],
  ])('takes out %s', (_, failures, reason) => {
    expect(groupReasons(failures)).toEqual([{ reason, count: 2, clusters: ['a', 'b'] }]);
  });

  it('says so where a record has no reason', () => {
    const failures = [{ cluster: 'a', resource: 'log' }];
    expect(groupReasons(failures)).toEqual([{ reason: 'no reason is recorded', count: 1, clusters: ['a'] }]);
  });

  it('keeps a bounded number of reasons, whatever the service writes', () => {
    const letters = (at: number) => [...String(at)].map((digit) => 'qrstuvwxyz'[Number(digit)]).join('');
    const failures = Array.from({ length: 5000 }, (_, at) => failed('a', letters(at)));
    const groups = groupReasons(failures);
    expect(groups[0]).toEqual({ reason: 'other reasons', count: 4000, clusters: ['a'] });
    expect(groups).toHaveLength(1001);
  });
});

const refusedWith = (httpStatus: number) => (_: unknown, at: number) => failed(`c-${at}`, `${httpStatus}`, httpStatus);

describe('why something is not archived, in lines', () => {
  it('is one line for one reason', () => {
    const failures = Array.from({ length: 300 }, refusedWith(503));
    expect(reasonLines('failed', failures)).toEqual(['300 failed, one reason: 503 Service Unavailable']);
  });

  it('is a line for each of several, the most frequent first, with clusters to look at', () => {
    const failures = [...Array.from({ length: 1 }, refusedWith(404)), ...Array.from({ length: 20 }, refusedWith(503))];
    expect(reasonLines('failed', failures)).toEqual([
      '21 failed, 2 reasons:',
      '- 20 x 503 Service Unavailable, such as c-0, c-1, c-2',
      '- 1 x 404 Not Found, such as c-0',
    ]);
  });

  it('counts what is left of many reasons', () => {
    const failures = [400, 401, 403, 404, 410, 500, 503].flatMap((status) =>
      Array.from({ length: 2 }, refusedWith(status)),
    );
    expect(reasonLines('failed', failures)).toHaveLength(7);
    expect(reasonLines('failed', failures).at(-1)).toBe('- and 2 more reasons, 4 x together');
  });

  it('names the sixth reason rather than one more, and says in a sentence how many it leaves out', () => {
    const failures = [400, 401, 403, 404, 410, 500].map(refusedWith).map((fail) => fail(null, 0));
    expect(reasonLines('failed', failures).at(-1)).toBe('- 1 x 500 Internal Server Error, such as c-0');
    expect(reasonsText(failures)).toMatch(/^400 Bad Request; .*; 500 Internal Server Error$/);
    expect(reasonsText([...failures, refusedWith(503)(null, 0)])).toMatch(/; 410 Gone; and 2 more$/);
  });

  it('is nothing where nothing failed', () => {
    expect(reasonLines('failed', [])).toEqual([]);
  });
});
