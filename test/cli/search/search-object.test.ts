import { linePattern } from '../../../cli/search/line-pattern';
import { type SearchedObject, searchObject } from '../../../cli/search/search-object';
import type { ArchiveReader } from '../../../lambda/verify/archive-reader';

const object: SearchedObject = {
  key: 'logs/cluster=c/date=2026-11-20/20261120T090000.000Z.json.gz',
  cluster: 'c',
  resource: 'log',
  run: new Date('2026-11-20T09:00:00Z'),
};

describe('the search of an object', () => {
  it('begins before its output is read, so that many run at once', async () => {
    const opened = new Promise<string>((resolve) => {
      const reader: ArchiveReader = {
        location: 'nowhere',
        time: async () => undefined,
        list: async function* () {},
        listNames: async function* () {},
        head: async () => undefined,
        open: async (key) => {
          resolve(key);
          return undefined;
        },
      };
      const pattern = linePattern('x', { fixedStrings: true, ignoreCase: false });
      searchObject(reader, object, { pattern, context: 0, format: () => '' });
    });
    expect(await opened).toBe(object.key);
  });
});
