import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { resourceNames } from '../../../archive/format/resources';
import { loadConfig, parseConfig, refuseExample, refusePartition } from '../../../infra/config/config';
import { newFolder } from '../../support/new-folder';
import { testCertificates } from '../../support/tls';
import { minimal, problemsOf } from '../example-config';

const folder = newFolder();

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

describe('a valid configuration', () => {
  it('gets every default', () => {
    expect(parseConfig(minimal, 'c.json')).toEqual({
      ...minimal,
      service: { baseUrl: 'https://clusters.example.com', collection: 'platformclusters' },
      // Written out, because a reader of the archive judges by it.
      clusters: [{ uid: 'a', resources: resourceNames }],
      schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
      limits: { concurrency: 16, maxBodyMiB: 256, oneRunAtATime: false },
      archive: { formerKmsKeyArns: [], readers: [] },
      alerts: { page: { emails: [] } },
      tags: {},
      shards: 1,
    });
  });

  it('may be at the edge of what its rules allow', () => {
    const edges = {
      archive: { retentionDays: 31, objectLock: { days: 31 } },
      limits: { concurrency: 38, maxBodyMiB: 256, oneRunAtATime: true },
      shards: 95,
    };
    expect(parseConfig({ ...minimal, ...edges }, 'c.json')).toMatchObject(edges);
  });

  it.each([
    ['https://Clusters.Example.com/', 'https://clusters.example.com'],
    ['https://clusters.example.com/api/fleet//', 'https://clusters.example.com/api/fleet'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://localhost:8080/', 'http://localhost:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('reads the address %s as %s', (baseUrl, expected) => {
    expect(parseConfig({ ...minimal, service: { baseUrl } }, 'c.json').service.baseUrl).toBe(expected);
  });

  it.each([
    'a b/c?d#e',
    '...',
    '%2e',
    'ünïcødé',
    '😀',
    '__proto__',
    'constructor',
    'x'.repeat(200),
  ])('accepts the uid %j', (uid) => {
    expect(parseConfig({ ...minimal, clusters: [uid] }, 'c.json').clusters).toEqual([
      { uid, resources: resourceNames },
    ]);
    expect(parseConfig({ ...minimal, clusters: [{ uid }] }, 'c.json').clusters).toEqual([
      { uid, resources: resourceNames },
    ]);
  });

  it.each([
    'UTC',
    'Etc/UTC',
    'Etc/GMT+5',
    'Europe/Berlin',
    'Asia/Kolkata',
    'America/Argentina/Buenos_Aires',
  ])('accepts the time zone %s', (timeZone) => {
    const config = parseConfig({ ...minimal, schedule: { ...minimal.schedule, timeZone } }, 'c.json');
    expect(config.schedule.timeZone).toBe(timeZone);
  });

  it.each([
    ['2026-11-20', '2026-11-20'],
    ['2026-11-20T10:00:00Z', '2026-11-20'],
    ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00Z'],
  ])('accepts that a cluster was erased from %s to %s: a day means all of it', (from, to) => {
    const audit = { schedule: 'cron(30 6 * * ? *)', acknowledged: [{ cluster: 'a', from, to, why: 'asked for' }] };
    expect(parseConfig({ ...minimal, audit }, 'c.json').audit?.acknowledged).toEqual(audit.acknowledged);
  });

  it('is the shipped example', () => {
    expect(loadConfig('collector.json').clusters).toHaveLength(5);
  });
});

describe('a configuration file', () => {
  const withCertificate = (caCertificateFile: string) => ({ ...minimal.service, caCertificateFile });

  it('that is missing is named, with the way to choose another', () => {
    expect(() => loadConfig(join(folder, 'none.json'))).toThrow(
      /none\.json cannot be used:\n {2}received no file, expected .* -c config=FILE, our commands by --config FILE/,
    );
  });

  it.each([
    ['is not JSON', '{\n  "name": "ü", }\n', 'line 2, column 16', 'property name expected'],
    [
      'would lose a member',
      '{"clusters": ["a"],\n "clusters": ["b"]}',
      'line 2, column 2',
      'a second member "clusters"',
    ],
    ['has a comment', '{\n// all\n}', 'line 2, column 1', 'invalid comment token'],
    ['ends early', '{"name": "a"', 'line 1, column 13', 'close brace expected'],
    ['is nested too deeply', '['.repeat(100_000) + ']'.repeat(100_000), 'line 1, column 1', 'nested too deeply'],
  ])('that %s is reported with line and column', (_, content, path, received) => {
    const file = write('broken.json', content);
    expect(problemsOf(() => loadConfig(file))).toEqual([
      { path, received: expect.stringContaining(received), expected: expect.any(String) },
    ]);
  });

  it('may lie outside of the checkout, with everything that it names', async () => {
    const { ca } = testCertificates();
    write('ca.pem', ca);
    write('list.json', '["x", "y"]');
    const others = { service: withCertificate('ca.pem'), clusters: { file: 'list.json' } };
    // As `-c config=../fleet/prod.json` names it: relative to the folder in which the command line runs.
    const file = relative(process.cwd(), write('prod.json', JSON.stringify({ ...minimal, ...others })));
    expect(file.startsWith('..')).toBe(true);
    const { service, clusters } = loadConfig(file);
    expect([service.caCertificate, clusters]).toEqual([
      ca,
      ['x', 'y'].map((uid) => ({ uid, resources: resourceNames })),
    ]);
  });

  it('reports an invalid certificate together with its other problems', async () => {
    const { expired } = testCertificates();
    write('bad.pem', expired.cert);
    const file = write('two.json', JSON.stringify({ ...minimal, shards: 0, service: withCertificate('bad.pem') }));
    expect(problemsOf(() => loadConfig(file)).map(({ path }) => path)).toEqual(['service.caCertificateFile', 'shards']);
  });

  it('names one root certificate for each authority of time stamps', async () => {
    const { ca, otherCa, intermediate } = await testCertificates();
    write('one.pem', ca);
    write('intermediate.pem', intermediate);
    write('two.pem', ca + otherCa);
    const authority = (caCertificateFile: string) => ({
      name: caCertificateFile.slice(0, 3),
      url: 'https://a.org',
      caCertificateFile,
    });
    const audit = {
      schedule: 'cron(30 6 * * ? *)',
      timestamps: [authority('one.pem'), authority('two.pem'), authority('intermediate.pem')],
    };
    const file = write('stamps.json', JSON.stringify({ ...minimal, audit }));
    expect(problemsOf(() => loadConfig(file))).toMatchObject([
      { path: 'audit.timestamps[1].caCertificateFile', expected: 'a PEM file with one certificate' },
      {
        path: 'audit.timestamps[2].caCertificateFile',
        expected: 'a root certificate, which signed itself: openssl trusts no other',
      },
    ]);
  });

  it.each([
    ['wrong entries', '["a", 7, "a"]', ['inventory.json[1]', 'inventory.json[2]']],
    ['no list', '{"a": 1}', ['inventory.json']],
    ['no entry', '[]', ['inventory.json']],
    ['no JSON', '[\n"a",]', ['inventory.json, line 2, column 5']],
  ])('reports a file of clusters with %s together with its other problems', (_, list, paths) => {
    write('inventory.json', list);
    const file = write('by-file.json', JSON.stringify({ ...minimal, shards: 0, clusters: { file: 'inventory.json' } }));
    expect(
      problemsOf(() => loadConfig(file))
        .map(({ path }) => path)
        .sort(),
    ).toEqual([...paths, 'shards'].sort());
  });

  it.each([
    [{ file: 'none.json' }, 'clusters.file', 'no file'],
    [{ file: 7 }, 'clusters.file', '7'],
    [{ fil: 'a.json' }, 'clusters.fil', 'an unknown member'],
  ])('reports %j in place of a list of clusters', (clusters, path, received) => {
    const file = write('by-file.json', JSON.stringify({ ...minimal, clusters }));
    expect(problemsOf(() => loadConfig(file))).toContainEqual({ path, received, expected: expect.any(String) });
  });

  it.each([
    ['https://clusters.example.com', true],
    ['https://example.org:8443', true],
    ['https://clusters.example', true],
    ['https://myexample.com', false],
    ['https://example.com.acme.dev', false],
    ['http://127.0.0.1:8080', true],
    ['https://localhost', true],
    ['https://localhost.acme.dev', false],
  ])('of %s is refused for a deployment: %s', (baseUrl, isRefused) => {
    const config = parseConfig({ ...minimal, service: { baseUrl } }, 'c.json');
    const refuse = () => refuseExample(config, 'c.json');
    if (isRefused) expect(problemsOf(refuse).map(({ path }) => path)).toEqual(['service.baseUrl']);
    else expect(refuse).not.toThrow();
  });
});

describe('a region of another partition', () => {
  const config = (changes = {}) => parseConfig({ ...minimal, ...changes }, 'c.json');

  it('is refused where the configuration names none', () => {
    const refused = problemsOf(() => refusePartition(config(), 'us-gov-west-1', 'c.json'));
    expect(refused).toMatchObject([
      { received: 'us-gov-west-1', expected: expect.stringMatching(/of the partition aws/) },
    ]);
  });

  it('does not matter if the configuration names another, or none is known', () => {
    const deployTo = { account: '111111111111', region: 'eu-central-1' };
    refusePartition(config({ deployTo }), 'us-gov-west-1', 'c.json');
    refusePartition(config(), 'eu-central-1', 'c.json');
    refusePartition(config(), undefined, 'c.json');
  });
});
