import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { loadConfig, parseConfig, recipientsOf, refuseExample, refusePartition } from '../../../infra/config/config';
import { resourceNames } from '../../../lambda/resources';
import { spkiOf } from '../../../lambda/verify/seals/seal-file';
import { testCertificates } from '../../support/tls';
import { exampleJson, minimal, problemsOf } from '../example-config';

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

describe('a valid configuration', () => {
  it('gets every default', () => {
    expect(parseConfig(minimal, 'c.json')).toEqual({
      ...minimal,
      service: { baseUrl: 'https://clusters.example.com', collection: 'platformclusters' },
      // Written out, because a reader of the archive judges by it.
      clusters: [{ uid: 'a', resources: resourceNames }],
      schedule: { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true },
      limits: { concurrency: 16, maxBodyMiB: 256, responseTimeoutSeconds: 60, oneRunAtATime: false },
      archive: { formerKmsKeyArns: [], readers: [] },
      alerts: { emails: [] },
      tags: {},
      shards: 1,
      dashboard: true,
      athenaTables: false,
    });
  });

  it('keeps the audit as it is written', () => {
    const formerPublicKeys = [spkiOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)];
    const times = { schedule: 'cron(30 6 * * ? *)', timeZone: 'Europe/Berlin', rereadDays: 90, staleAfterHours: 2 };
    const acknowledged = [
      { kind: 'missing', key: 'logs/x', why: 'deleted by mistake' },
      { cluster: 'a', from: '2026-01-01', to: '2026-02-01T10:00:00Z', why: 'asked for by law' },
      { retentionDays: 40, why: 'decided' },
    ];
    const audit = { ...times, formerPublicKeys, acknowledged };
    expect(parseConfig({ ...minimal, audit }, 'c.json').audit).toEqual(audit);
  });

  it('lets a cluster be stale after any time if nobody knows when runs are due', () => {
    const schedule = { ...minimal.schedule, enabled: false };
    const audit = { schedule: 'cron(30 6 * * ? *)', staleAfterHours: 1 };
    expect(parseConfig({ ...minimal, schedule, audit }, 'c.json').audit).toEqual(audit);
  });

  it('may be at the edge of what its rules allow', () => {
    const edges = {
      archive: { retentionDays: 31, objectLock: { days: 31 } },
      limits: { concurrency: 38, maxBodyMiB: 256, oneRunAtATime: true },
      shards: 95,
    };
    expect(parseConfig({ ...minimal, ...edges }, 'c.json')).toMatchObject(edges);
  });

  it('keeps the members of single clusters', () => {
    const clusters = [{ uid: 'a', projectUid: 'p', requestId: 'r', resources: ['log'], optional: true }, 'b'];
    expect(parseConfig({ ...minimal, clusters }, 'c.json').clusters).toEqual([
      clusters[0],
      { uid: 'b', resources: resourceNames },
    ]);
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
    '\u0000',
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
    ['existing/key', { name: 'existing/key' }],
    [
      { name: 'existing/key', kmsKeyArn },
      { name: 'existing/key', kmsKeyArn },
    ],
  ])('reads the secret %j as %j', (apiKeySecret, expected) => {
    expect(parseConfig({ ...minimal, apiKeySecret }, 'c.json').apiKeySecret).toEqual(expected);
  });

  it('is the shipped example', () => {
    expect(loadConfig('collector.json').clusters).toHaveLength(5);
  });

  it('lists 50,000 uids without delay', () => {
    const clusters = Array.from({ length: 50_000 }, (_, index) => `cluster-${index}`);
    const before = process.cpuUsage();
    expect(parseConfig({ ...minimal, clusters }, 'c.json').clusters).toHaveLength(50_000);
    // Measured: 0.1 s of processor time. Work that grows with the square of the list takes minutes.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(5);
  });
});

describe('a configuration file', () => {
  const withCertificate = (caCertificateFile: string) => ({ ...minimal.service, caCertificateFile });

  it('that is missing is named, with the way to choose another', () => {
    expect(() => loadConfig(join(folder, 'none.json'))).toThrow(
      /none\.json cannot be used:\n {2}received no file, expected .* -c config=FILE chooses another one/,
    );
  });

  it.each([
    ['is not JSON', '{\n  "name": "ü", }\n', 'line 2, column 14', 'trailing comma'],
    ['would lose a member', '{"clusters": ["a"],\n "clusters": ["b"]}', 'line 2, column 2', 'Duplicate key "clusters"'],
  ])('that %s is reported with line and column', (_, content, path, received) => {
    const file = write('broken.json', content);
    expect(problemsOf(() => loadConfig(file))).toEqual([
      { path, received: expect.stringContaining(received), expected: expect.any(String) },
    ]);
  });

  it('names certificates relative to itself, and gets their text', async () => {
    const { ca } = await testCertificates();
    write('ca.pem', ca);
    const file = write('tls.json', JSON.stringify({ ...minimal, service: withCertificate('ca.pem') }));
    expect(loadConfig(file).service.caCertificate).toBe(ca);
  });

  it('may lie outside of the checkout, with everything that it names', async () => {
    const { ca } = await testCertificates();
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
    const { expired } = await testCertificates();
    write('bad.pem', expired.cert);
    const file = write('two.json', JSON.stringify({ ...minimal, shards: 0, service: withCertificate('bad.pem') }));
    expect(problemsOf(() => loadConfig(file)).map(({ path }) => path)).toEqual(['service.caCertificateFile', 'shards']);
  });

  it('may name a file with its list of clusters, relative to itself', () => {
    write('inventory.json', JSON.stringify(['a', { uid: 'b', optional: true }]));
    const file = write('by-file.json', JSON.stringify({ ...minimal, clusters: { file: 'inventory.json' } }));
    expect(loadConfig(file).clusters).toEqual([
      { uid: 'a', resources: resourceNames },
      { uid: 'b', optional: true, resources: resourceNames },
    ]);
  });

  it.each([
    ['wrong entries', '["a", 7, "a"]', ['inventory.json[1]', 'inventory.json[2]']],
    ['no list', '{"a": 1}', ['inventory.json']],
    ['no entry', '[]', ['inventory.json']],
    ['no JSON', '[\n"a",]', ['inventory.json, line 2, column 4']],
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
  ])('of %s is refused for a deployment: %s', (baseUrl, isRefused) => {
    const config = parseConfig({ ...minimal, service: { baseUrl } }, 'c.json');
    const refuse = () => refuseExample(config, 'c.json');
    if (isRefused) expect(problemsOf(refuse).map(({ path }) => path)).toEqual(['service.baseUrl']);
    else expect(refuse).not.toThrow();
  });

  it('may begin with a byte order mark, as some editors write it', () => {
    const file = write('bom.json', `\uFEFF${JSON.stringify(exampleJson())}`);
    expect(loadConfig(file).name).toBe('cluster-log-collector');
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

describe('who gets messages', () => {
  const recipients = (alerts: object) => recipientsOf(parseConfig({ ...minimal, alerts }, 'c.json').alerts);

  it('is one list, or two groups', () => {
    expect(recipients({ emails: ['a@b.org'] })).toEqual({ page: { emails: ['a@b.org'] }, inform: undefined });
    const groups = { page: { emails: ['a@b.org'] }, inform: { emails: ['c@d.org'] } };
    expect(recipients(groups)).toEqual(groups);
  });
});
