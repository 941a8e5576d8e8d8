import { ConfigError, parseConfig } from '../../../infra/config/config';
import { minimal, problemsOf } from '../example-config';
import { wrongConfigurations } from './wrong-configurations';

const problems = (value: unknown) => problemsOf(() => parseConfig(value, 'c.json'));

describe('an invalid configuration', () => {
  it.each(wrongConfigurations)('has one problem, at $path: $expected', ({ config, path, expected }) => {
    const found = problems(config);
    expect(found.map((problem) => problem.path)).toEqual([path]);
    expect(found[0]?.expected).toMatch(expected);
  });

  it.each([[null], [7], [[]], ['text']])('%j is not a configuration', (value) => {
    const expected = '{ "name": …, "service": …, "clusters": …, "schedule": … }';
    expect(problems(value)).toEqual([{ path: '', received: expect.any(String), expected }]);
  });

  it.each([
    [{ cluster: ['a'] }, 'cluster', 'clusters'],
    [{ service: { baseUrl: 'https://p.dev', Collection: 'x' } }, 'service.Collection', 'collection'],
    [{ service: { baseUrl: 'https://p.dev', url: 'https://p.dev' } }, 'service.url', 'baseUrl'],
    [{ limits: { concurency: 5 } }, 'limits.concurency', 'concurrency'],
    [{ service: { baseUrl: 'https://p.dev', apiKey: 'x' } }, 'service.apiKey', undefined],
    [{ vpcId: 'vpc-1' }, 'vpcId', undefined],
  ])('of a member that nobody knows, %j, names one like it', (changes, path, nearest) => {
    const [found] = problems({ ...minimal, ...changes }).filter((problem) => problem.path === path);
    expect(found?.received).toBe('an unknown member');
    const [, meant] = /^one of [$\w, ]+(?:; did you mean (\w+)\?)?$/.exec(found?.expected ?? '') ?? [];
    expect(meant).toBe(nearest);
  });

  it('reports all problems at once', () => {
    const several = {
      ...minimal,
      name: undefined,
      servce: 1,
      service: { baseUrl: 'http://clusters.example.com', colection: 'x' },
      clusters: ['', 'a', 'a', 7],
      schedule: { expression: 'rate(1 hour)', timeZone: 'x', enabled: 0 },
      shards: 0,
    };
    expect(problems(several).map(({ path }) => path)).toEqual([
      'name',
      'service.baseUrl',
      'service.colection',
      'clusters[0]',
      'clusters[3]',
      'clusters[2]',
      'schedule.expression',
      'schedule.timeZone',
      'schedule.enabled',
      'shards',
      'servce',
    ]);
    // Rules between members are reported together with those of single members.
    expect(
      problems({ ...minimal, limits: { concurrency: 64, requestsPerSecond: -1 }, name: '' }).map(({ path }) => path),
    ).toEqual(['name', 'limits.requestsPerSecond', 'limits.maxBodyMiB']);
    expect(
      problems({
        ...minimal,
        archive: { kms: 'x', retentionDays: 1, objectLock: { days: 2 } },
      }).map(({ path }) => path),
    ).toEqual(['archive.kms', 'archive.retentionDays']);
  });

  it('is reported in one message with path, received and expected', () => {
    expect(() => parseConfig({ ...minimal, shards: 0, tags: 1 }, '/etc/c.json')).toThrow(
      'The configuration /etc/c.json cannot be used:\n' +
        '  tags: received 1, expected an object of tags\n' +
        '  shards: received 0, expected a whole number from 1 to 500',
    );
  });

  it('is reported in a short message, however many problems it has', () => {
    const clusters = Array.from({ length: 5_000 }, () => 'x'.repeat(5000));
    const error = new ConfigError('c.json', problems({ ...minimal, clusters }));
    expect(error.message).toContain(`"${'x'.repeat(59)}… (5002 characters)`);
    expect(error.message).toContain('… and 9949 more');
    expect(error.message.length).toBeLessThan(20_000);
    expect(problems({ ...minimal, ['y'.repeat(5000)]: 1 })[0]?.path).toBe(`["${'y'.repeat(60)}… (5000 characters)"]`);
  });

  it('is reported without values that may be secret', () => {
    const hidden = 'AKEY0123456789';
    const error = new ConfigError(
      'c.json',
      problems({
        ...minimal,
        apiKey: hidden,
        service: { baseUrl: `https://user:${hidden}@clusters.example.com`, ApiKey: hidden },
        apiKeySecret: { name: 'a', value: hidden },
      }),
    );
    expect(error.problems).toHaveLength(4);
    expect(error.message).not.toContain(hidden);
  });

  it.each([
    'https:me:hidden@clusters.example.com',
    'https:/me:hidden@clusters.example.com',
    'https:\\\\me:hidden@clusters.example.com',
    'https://me:a/hidden@clusters.example.com',
    'https://me:a\nhidden@clusters.example.com',
    'me:hidden@clusters.example.com',
    '//me:hidden@clusters.example.com',
  ])('is reported without the credentials of an address, however it is written: %j', (baseUrl) => {
    const { message } = new ConfigError('c.json', problems({ ...minimal, service: { baseUrl } }));
    expect(message).toContain('…@clusters.example.com');
    expect(message).not.toContain('hidden');
  });
});
