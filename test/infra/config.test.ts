import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig, parseConfig } from '../../infra/config';
import { testCertificates } from '../support/tls';
import { exampleJson } from './example-config';

const minimal = {
  name: 'collector',
  service: { baseUrl: 'https://clusters.example.com' },
  clusters: ['a'],
  schedule: { expression: 'cron(0 * * * ? *)' },
};

const kmsKeyArn = 'arn:aws:kms:eu-central-1:111111111111:key/11111111-2222-3333-4444-555555555555';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

function problemsOf(action: () => unknown) {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error('expected a ConfigError');
}

const problems = (value: unknown) => problemsOf(() => parseConfig(value, join(folder, 'c.json')));

describe('a configuration that is right', () => {
  test('gets every default', () => {
    expect(parseConfig(minimal, 'c.json')).toEqual({
      ...minimal,
      service: { baseUrl: 'https://clusters.example.com', collection: 'platformclusters' },
      clusters: [{ uid: 'a' }],
      schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
      limits: { concurrency: 16, maxBodyMiB: 256, responseTimeoutSeconds: 60 },
      archive: { compression: 'gzip' },
      alerts: { emails: [] },
      tags: {},
      shards: 1,
      testEvents: false,
    });
  });

  test('keeps what is said about single clusters', () => {
    const clusters = [{ uid: 'a', projectUid: 'p', requestId: 'r', resources: ['log'] }, 'b'];
    expect(parseConfig({ ...minimal, clusters }, 'c.json').clusters).toEqual([clusters[0], { uid: 'b' }]);
  });

  test.each([
    ['https://Clusters.Example.com/', 'https://clusters.example.com'],
    ['https://clusters.example.com/api/fleet//', 'https://clusters.example.com/api/fleet'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://localhost:8080/', 'http://localhost:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('reads the address %s as %s', (baseUrl, expected) => {
    expect(parseConfig({ ...minimal, service: { baseUrl } }, 'c.json').service.baseUrl).toBe(expected);
  });

  test.each([
    'a b/c?d#e',
    '...',
    '%2e',
    'ünïcødé',
    '😀',
    '__proto__',
    'constructor',
    '\u0000',
    'x'.repeat(200),
  ])('takes the uid %j', (uid) => {
    expect(parseConfig({ ...minimal, clusters: [uid] }, 'c.json').clusters).toEqual([{ uid }]);
    expect(parseConfig({ ...minimal, clusters: [{ uid }] }, 'c.json').clusters).toEqual([{ uid }]);
  });

  test.each([
    'UTC',
    'Etc/UTC',
    'Etc/GMT+5',
    'Europe/Berlin',
    'Asia/Kolkata',
    'America/Argentina/Buenos_Aires',
  ])('takes the time zone %s', (timeZone) => {
    const config = parseConfig({ ...minimal, schedule: { ...minimal.schedule, timeZone } }, 'c.json');
    expect(config.schedule.timeZone).toBe(timeZone);
  });

  test.each([
    ['existing/key', { name: 'existing/key' }],
    [
      { name: 'existing/key', kmsKeyArn },
      { name: 'existing/key', kmsKeyArn },
    ],
  ])('reads the secret %j as %j', (apiKeySecret, expected) => {
    expect(parseConfig({ ...minimal, apiKeySecret }, 'c.json').apiKeySecret).toEqual(expected);
  });

  test('is the shipped example', () => {
    expect(loadConfig('collector.json').clusters).toHaveLength(5);
  });

  test('lists 50,000 uids without delay', () => {
    const clusters = Array.from({ length: 50_000 }, (_, index) => `cluster-${index}`);
    const before = process.cpuUsage();
    expect(parseConfig({ ...minimal, clusters }, 'c.json').clusters).toHaveLength(50_000);
    // Measured at 100 ms of processor time; what grows with the square of the list takes minutes.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(5);
  });
});

/** Members that are wrong, the path of the problem, and words of what was expected. */
const wrong: [string, Record<string, unknown>, string, RegExp][] = [
  ['a name that is no stack name', { name: '1 stack' }, 'name', /a stack name: a letter, then/],
  ['a name of another type', { name: 7 }, 'name', /the name of the stack/],
  ['no service', { service: undefined }, 'service', /an object/],
  ['an unknown member', { servce: {} }, 'servce', /one of \$schema, name, service,/],
  [
    'an unknown member further in',
    { schedule: { ...minimal.schedule, timezone: 'UTC' } },
    'schedule.timezone',
    /timeZone/,
  ],
  ...(
    [
      ['http to another machine', 'http://clusters.example.com', /https \(plain http only towards loopback/],
      ['http to a name that begins like loopback', 'http://127.0.0.1.example.com', /https/],
      ['another protocol', 'ftp://clusters.example.com', /https/],
      ['no URL', 'clusters.example.com', /an absolute URL/],
      ['a blank', ' https://clusters.example.com', /an absolute URL/],
      ['credentials', 'https://me:hidden@clusters.example.com', /no credentials/],
      ['a query', 'https://clusters.example.com/?', /without query or fragment/],
      ['a fragment', 'https://clusters.example.com/#', /without query or fragment/],
    ] as const
  ).map(([what, baseUrl, expected]): [string, Record<string, unknown>, string, RegExp] => [
    `an address with ${what}`,
    { service: { baseUrl } },
    'service.baseUrl',
    expected,
  ]),
  ['a collection of two segments', service({ collection: 'a/b' }), 'service.collection', /one plain path segment/],
  ['a collection that goes up', service({ collection: '..' }), 'service.collection', /one plain path segment/],
  [
    'a project that no header carries',
    service({ projectUid: 'a\r\nApiKey: b' }),
    'service.projectUid',
    /printable ASCII/,
  ],
  [
    'a certificate file that is missing',
    service({ caCertificateFile: 'none.pem' }),
    'service.caCertificateFile',
    /PEM/,
  ],
  ['no cluster', { clusters: [] }, 'clusters', /at least one cluster/],
  ['clusters that are no list', { clusters: 'a' }, 'clusters', /a list of clusters/],
  ['a uid twice', { clusters: ['a', 'b', { uid: 'a' }] }, 'clusters[2]', /each uid once \(it is clusters\[0\]\)/],
  ['an empty uid', { clusters: [''] }, 'clusters[0]', /not empty/],
  ['the uid .', { clusters: ['.'] }, 'clusters[0]', /other than "\." and "\.\."/],
  ['the uid ..', { clusters: [{ uid: '..' }] }, 'clusters[0].uid', /other than "\." and "\.\."/],
  ['a lone surrogate', { clusters: ['a\ud800'] }, 'clusters[0]', /lone surrogates/],
  ['a uid over 200 bytes', { clusters: ['ü'.repeat(101)] }, 'clusters[0]', /at most 200 bytes/],
  ['a uid of another type', { clusters: [7] }, 'clusters[0]', /the uid of a cluster or an object/],
  [
    'an unknown resource',
    { clusters: [{ uid: 'a', resources: ['logs'] }] },
    'clusters[0].resources[0]',
    /log, manifest/,
  ],
  ['no resource', { clusters: [{ uid: 'a', resources: [] }] }, 'clusters[0].resources', /at least one resource/],
  ['a resource twice', { clusters: [{ uid: 'a', resources: ['log', 'log'] }] }, 'clusters[0].resources', /once/],
  [
    'a misspelt member of a cluster',
    { clusters: [{ uid: 'a', projectuid: 'p' }] },
    'clusters[0].projectuid',
    /projectUid/,
  ],
  ['rate()', expression('rate(1 hour)'), 'schedule.expression', /rate\(\) fires at deployment/],
  ['at()', expression('at(2026-11-20T10:00:00)'), 'schedule.expression', /at\(\) fires only once/],
  ['a cron of five fields', expression('cron(0 * * * ?)'), 'schedule.expression', /./],
  ['a cron without its function', expression('0 * * * ? *'), 'schedule.expression', /cron\(/],
  ['a cron with a minute that is none', expression('cron(60 * * * ? *)'), 'schedule.expression', /minutes/],
  ['a time zone that is none', zone('Mars/Olympus'), 'schedule.timeZone', /an IANA time zone/],
  ['a time zone in another case', zone('europe/berlin'), 'schedule.timeZone', /an IANA time zone/],
  ['a time zone that is an offset', zone('+01:00'), 'schedule.timeZone', /an IANA time zone/],
  ['no worker', { limits: { concurrency: 0 } }, 'limits.concurrency', /from 1 to 256/],
  ['too many workers', { limits: { concurrency: 257, maxBodyMiB: 1 } }, 'limits.concurrency', /from 1 to 256/],
  ['half a worker', { limits: { concurrency: 1.5 } }, 'limits.concurrency', /a whole number/],
  ['a rate of nothing', { limits: { requestsPerSecond: 0 } }, 'limits.requestsPerSecond', /a number above 0/],
  [
    'a time-out of nothing',
    { limits: { responseTimeoutSeconds: 0 } },
    'limits.responseTimeoutSeconds',
    /from 1 to 600/,
  ],
  [
    'bodies that do not fit',
    { limits: { concurrency: 64, maxBodyMiB: 256 } },
    'limits',
    /9728 MiB .* lower concurrency to 38 or maxBodyMiB to 152$/,
  ],
  [
    'early infrequent access',
    { archive: { infrequentAccessAfterDays: 29 } },
    'archive.infrequentAccessAfterDays',
    /from 30/,
  ],
  [
    'an expiry before the move',
    { archive: { infrequentAccessAfterDays: 30, retentionDays: 30 } },
    'archive.retentionDays',
    /more days than infrequentAccessAfterDays \(30\)/,
  ],
  [
    'an expiry before the lock ends',
    { archive: { retentionDays: 10, objectLockDays: 11 } },
    'archive.retentionDays',
    /at least objectLockDays \(11\)/,
  ],
  ['an unknown compression', { archive: { compression: 'brotli' } }, 'archive.compression', /gzip or zstd/],
  ['a key that is switched off', { archive: { kms: false } }, 'archive.kms', /true or the ARN of a KMS key/],
  ['a key by its alias', { archive: { kms: 'alias/mine' } }, 'archive.kms', /arn:aws:kms/],
  ['a secret by its ARN', { apiKeySecret: 'arn:aws:secretsmanager:a:1:secret:b' }, 'apiKeySecret', /not its ARN/],
  ['an address without a person', { alerts: { emails: ['@example.com'] } }, 'alerts.emails[0]', /an e-mail address/],
  ['a network without subnets', network({ subnetIds: [] }), 'network.subnetIds', /at least one identifier subnet-/],
  ['a subnet that is a group', network({ subnetIds: ['sg-12345678'] }), 'network.subnetIds[0]', /subnet-/],
  ['a tag that is reserved', { tags: { 'aws:x': 'y' } }, 'tags["aws:x"]', /does not start with "aws:"/],
  ['a tag that is no text', { tags: { team: 7 } }, 'tags.team', /text/],
  ['no shard', { shards: 0 }, 'shards', /from 1 to/],
  ['test events that are neither', { testEvents: 'yes' }, 'testEvents', /true or false/],
];

function service(changes: object) {
  return { service: { ...minimal.service, ...changes } };
}
function expression(text: string) {
  return { schedule: { expression: text } };
}
function zone(timeZone: string) {
  return { schedule: { ...minimal.schedule, timeZone } };
}
function network(changes: object) {
  return {
    network: { vpcId: 'vpc-12345678', subnetIds: ['subnet-12345678'], securityGroupIds: ['sg-12345678'], ...changes },
  };
}

describe('a configuration that is wrong', () => {
  test.each(wrong)('%s is the one problem', (_, changes, path, expected) => {
    const found = problems({ ...minimal, ...changes });
    expect(found.map((problem) => problem.path)).toEqual([path]);
    expect(found[0]?.expected).toMatch(expected);
  });

  test.each([[null], [7], [[]], ['text']])('%j is no configuration', (value) => {
    expect(problems(value)).toEqual([{ path: '', received: expect.any(String), expected: 'an object' }]);
  });

  test('is told all at once', () => {
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
    // Rules between members are told beside those of single members.
    expect(
      problems({ ...minimal, limits: { concurrency: 64, requestsPerSecond: -1 }, name: '' }).map(({ path }) => path),
    ).toEqual(['name', 'limits.requestsPerSecond', 'limits']);
    expect(
      problems({
        ...minimal,
        archive: { compression: 'x', retentionDays: 1, objectLockDays: 2 },
      }).map(({ path }) => path),
    ).toEqual(['archive.compression', 'archive.retentionDays']);
  });

  test('is told in one message with path, received and expected', () => {
    expect(() => parseConfig({ ...minimal, shards: 0, testEvents: 1 }, '/etc/c.json')).toThrow(
      'The configuration /etc/c.json cannot be used:\n' +
        '  shards: received 0, expected a whole number from 1 to 1000\n' +
        '  testEvents: received 1, expected true or false',
    );
  });

  test('does not bury its reader', () => {
    const clusters = Array.from({ length: 50_000 }, () => 'x'.repeat(5000));
    const error = new ConfigError('c.json', problems({ ...minimal, clusters }));
    expect(error.message).toContain(`"${'x'.repeat(59)}… (5002 characters)`);
    expect(error.message).toContain('… and 99949 more');
    expect(error.message.length).toBeLessThan(20_000);
  });

  test('keeps what may be a secret to itself', () => {
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
});

describe('a configuration file', () => {
  test('that is missing names itself and the way to another', () => {
    expect(() => loadConfig(join(folder, 'none.json'))).toThrow(
      /none\.json cannot be used:\n {2}received no such file, expected .* choose another with -c config=FILE/,
    );
  });

  test('that is no JSON says where', () => {
    const file = write('broken.json', '{\n  "name": "ü", }\n');
    expect(problemsOf(() => loadConfig(file))).toEqual([
      { path: 'line 2, column 14', received: expect.stringContaining('trailing comma'), expected: expect.any(String) },
    ]);
  });

  test('that names a member twice says where, because the first would be lost', () => {
    const file = write('twice.json', '{"clusters": ["a"],\n "clusters": ["b"]}');
    expect(problemsOf(() => loadConfig(file))).toEqual([
      {
        path: 'line 2, column 2',
        received: expect.stringContaining('Duplicate key "clusters"'),
        expected: expect.any(String),
      },
    ]);
  });

  test('brings the text of the certificates it names, relative to itself', () => {
    const { ca } = testCertificates();
    write('ca.pem', ca);
    const file = write('tls.json', JSON.stringify({ ...minimal, ...service({ caCertificateFile: 'ca.pem' }) }));
    expect(loadConfig(file).service.caCertificate).toBe(ca);
  });

  test('tells of a certificate beside its other problems', () => {
    write('bad.pem', testCertificates().expired.cert);
    const file = write(
      'two.json',
      JSON.stringify({ ...minimal, shards: 0, ...service({ caCertificateFile: 'bad.pem' }) }),
    );
    expect(problemsOf(() => loadConfig(file)).map(({ path }) => path)).toEqual(['shards', 'service.caCertificateFile']);
  });

  test('may begin with a byte order mark, as some editors write it', () => {
    const file = write('bom.json', `\uFEFF${JSON.stringify(exampleJson())}`);
    expect(loadConfig(file).name).toBe('cluster-log-collector');
  });
});
