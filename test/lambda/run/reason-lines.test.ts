import { reasonLines } from '../../../lambda/run/reason-lines';

const failed = (httpStatus: number) => (_: unknown, at: number) => ({
  cluster: `c-${at}`,
  resource: 'log',
  httpStatus,
  error: `${httpStatus}`,
});

describe('why something is not archived, in lines', () => {
  it('is one line for one reason', () => {
    const failures = Array.from({ length: 300 }, failed(503));
    expect(reasonLines('failed', failures)).toEqual(['300 failed, one reason: 503 Service Unavailable']);
  });

  it('is a line for each of several, the most frequent first, with clusters to look at', () => {
    const failures = [...Array.from({ length: 1 }, failed(404)), ...Array.from({ length: 20 }, failed(503))];
    expect(reasonLines('failed', failures)).toEqual([
      '21 failed, 2 reasons:',
      '- 20 x 503 Service Unavailable, such as c-0, c-1, c-2',
      '- 1 x 404 Not Found, such as c-0',
    ]);
  });

  it('counts what is left of many reasons', () => {
    const failures = [400, 401, 403, 404, 410, 500, 503].flatMap((status) => Array.from({ length: 2 }, failed(status)));
    expect(reasonLines('failed', failures)).toHaveLength(7);
    expect(reasonLines('failed', failures).at(-1)).toBe('- 4 x other reasons');
  });

  it('is nothing where nothing failed', () => {
    expect(reasonLines('failed', [])).toEqual([]);
  });
});
