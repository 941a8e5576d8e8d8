import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Check } from '../../../cli/doctor/check';
import type { LocalDeployment } from '../../../local/deployment/deploy-locally';
import { useLocalCollector } from '../../end-to-end/local-collector';
import { operations } from '../../infra/guides';
import { newFolder } from '../../support/new-folder';
import { runCollector } from '../run-collector';
import { ofFirstResources, writeStartConfig } from '../run-start';
import { accountId, type ControlPlane, startControlPlane } from '../stack/control-plane';

/** The archive is served by this machine, whose clock it has: half past an hour that is over. */
const now = new Date();
const lastHour = new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000);
const hoursAgo = (hours: number) => new Date(lastHour.getTime() - hours * 3_600_000);
const time = (date: Date) => date.toISOString().replace('.000', '');

describe('collector doctor', () => {
  const clusters = ofFirstResources('alpha', 'beta');
  const collector = useLocalCollector({ clusters });
  const root = newFolder();
  let config: string;
  let deployed: LocalDeployment;
  let plane: ControlPlane;

  beforeAll(async () => {
    const service = { baseUrl: collector.demo.url };
    const alerts = { emails: ['night@example.com'] };
    const archive = { retentionDays: 400 };
    config = await writeStartConfig(root, { name: 'my-collector', service, clusters, alerts, archive });
  });
  beforeEach(async () => {
    deployed = await collector.deploy();
    plane = await startControlPlane(deployed);
  });
  afterEach(() => plane.close());

  async function doctor(args: string[], environment: Record<string, string> = {}) {
    const all = ['doctor', '--json', ...(args.includes('--stack') ? [] : ['--config', config]), ...args];
    const surroundings = { environment, interruption: () => new AbortController().signal, wait: async () => {} };
    const { code, out, err } = await runCollector(all, { now }, surroundings);
    expect(out + err).not.toContain(collector.key);
    const document = out === '' ? undefined : (JSON.parse(out) as { verdict: string; checks: Check[] });
    const states = Object.fromEntries(document?.checks.map(({ what, state }) => [what, state]) ?? []);
    const find = (what: string) => document?.checks.find((check) => check.what === what);
    return { code, err, verdict: document?.verdict, states, find };
  }

  it('finds all well after a run, and asks the service once with the key from the secret', async () => {
    await deployed.fireSchedule(lastHour);
    const { code, verdict, states, find } = await doctor([]);
    expect(states).toEqual({
      configuration: 'ok',
      schedule: 'ok',
      'missing runs': 'ok',
      recipients: 'ok',
      stack: 'ok',
      'API key': 'ok',
      subscriptions: 'ok',
      drift: 'ok',
      retention: 'ok',
      'newest run': 'ok',
      service: 'ok',
    });
    expect(verdict).toBe('All is well.');
    expect(find('stack')?.found).toBe('my-collector in account 111122223333, region eu-central-1: CREATE_COMPLETE');
    expect(find('newest run')?.found).toMatch(new RegExp(`^${time(lastHour)}, .*: complete, 4 of 4 archived$`));
    expect(find('service')?.found).toMatch(/answered for cluster alpha with a log record of .* KiB in /);
    expect(code).toBe(0);
  });

  it('names what is wrong in the account, each with what to do', async () => {
    await plane.close();
    deployed = await collector.deploy({ secretValue: undefined });
    plane = await startControlPlane(deployed);
    plane.status = 'ROLLBACK_COMPLETE';
    plane.subscriptions = [['email', 'night@example.com', 'PendingConfirmation']];
    collector.failing.beta = 'not-found';
    await deployed.fireSchedule(hoursAgo(4)).catch(() => undefined);
    const { code, states, find } = await doctor([]);
    expect(states).toMatchObject({
      stack: 'problem',
      'API key': 'problem',
      subscriptions: 'problem',
      'newest run': 'problem',
      service: 'unknown',
    });
    expect(find('API key')).toMatchObject({ found: expect.stringContaining('no value yet') });
    expect(find('subscriptions')?.act).toContain('follow the link');
    expect(find('newest run')?.found).toMatch(
      new RegExp(`scheduled runs? (of|since) ${time(hoursAgo(3))} (is|are) missing`),
    );
    expect(find('newest run')?.act).toContain(` --run ${time(hoursAgo(3))} --without-record`);
    for (const what of Object.keys(states).filter((name) => states[name] !== 'ok'))
      expect(find(what)?.act).toBeTruthy();
    expect(code).toBe(1);
  });

  it.each([
    ['ROLLBACK_COMPLETE', 'When the first deployment fails'],
    ['UPDATE_ROLLBACK_FAILED', 'When an update fails'],
  ])('points from the state %s to "%s", a heading of the guide', async (status, heading) => {
    plane.status = status;
    expect((await doctor([])).find('stack')?.act).toBe(`see docs/operations.md, "${heading}"`);
    expect(operations).toContain(`\n### ${heading}\n`);
  });

  it('looks at the recipients of both groups', async () => {
    plane.informed = [['email', 'day@example.com', 'PendingConfirmation']];
    const { find } = await doctor([]);
    expect(find('subscriptions')?.state).toBe('ok');
    expect(find('subscriptions of inform')).toMatchObject({
      state: 'problem',
      found: 'not confirmed: email day@example.com',
    });
    plane.subscriptions = undefined;
    const act = 'use credentials that may list the subscriptions';
    expect((await doctor([])).find('subscriptions')).toMatchObject({ state: 'unknown', act });
  });

  it('names an address whose subscription is gone, and the command that subscribes it again', async () => {
    plane.subscriptions = [['email', 'day@example.com', `arn:aws:sns:eu-central-1:${accountId}:alerts:2`]];
    const { find, code } = await doctor([]);
    expect(find('subscriptions')).toMatchObject({
      state: 'problem',
      found: expect.stringMatching(/^not subscribed: night@example\.com; SNS deletes/),
      act: expect.stringMatching(/\naws sns subscribe .* --protocol email --notification-endpoint night@example\.com$/),
    });
    expect(code).toBe(1);
  });

  it('names what was changed by hand, and a retention that is not the deployed one', async () => {
    plane.drift = [['/PolicyDocument/Statement/5', '{"Sid":"SealsByAuditOnly"}', 'x'.repeat(300)]];
    plane.retentionDays = 'never';
    const { find } = await doctor([]);
    expect(find('drift')).toMatchObject({
      state: 'problem',
      found: `ArchiveBucket49F1AC64/PolicyDocument/Statement/5: deployed {"Sid":"SealsByAuditOnly"}, found ${'x'.repeat(160)}…`,
      act: expect.stringContaining('--revert-drift'),
    });
    expect(find('retention')).toMatchObject({
      state: 'problem',
      found: 'objects are kept for ever, by the configuration 400 days',
    });
    plane.retentionDays = '40';
    expect((await doctor([])).find('retention')?.state).toBe('warning');
  });

  it('gives the command that completes an incomplete newest run', async () => {
    collector.failing.beta = 'not-found';
    await deployed.fireSchedule(lastHour);
    expect((await doctor([])).find('newest run')).toEqual({
      what: 'newest run',
      state: 'problem',
      found: expect.stringContaining(': incomplete, 2 of 4 archived'),
      act: `complete it: npm run collector -- run --stack my-collector --region eu-central-1 --run ${time(lastHour)}`,
    });
  });

  it('says what the service answers to a wrong key from the environment', async () => {
    const { find } = await doctor([], { COLLECTOR_API_KEY: 'wrong-key' });
    expect(find('service')).toMatchObject({
      state: 'problem',
      found: expect.stringContaining('401'),
      act: expect.stringContaining('whether the key is valid'),
    });
    expect(JSON.stringify(find('service'))).not.toContain('wrong-key');
  });

  it('looks at a configuration alone with --offline, and asks nobody', async () => {
    const { code, states } = await doctor(['--offline']);
    expect(Object.keys(states)).toEqual(['configuration', 'schedule', 'missing runs', 'recipients']);
    expect(plane.calls).toEqual([]);
    expect(code).toBe(0);
  });

  it('without credentials looks at the configuration, and says that the account could not be looked at', async () => {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']) delete process.env[name];
    Object.assign(process.env, {
      AWS_CONFIG_FILE: join(root, 'none'),
      AWS_SHARED_CREDENTIALS_FILE: join(root, 'none'),
    });
    const { code, states, find } = await doctor([], { COLLECTOR_API_KEY: collector.key });
    for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) delete process.env[name];
    expect(states).toMatchObject({ configuration: 'ok', schedule: 'ok', stack: 'problem', service: 'ok' });
    expect(find('stack')?.found).toMatch(/no valid credentials were found; run `aws configure`/);
    expect(code).toBe(1);
  });

  it('tells a configuration that cannot be used with all its problems', async () => {
    const bad = join(root, 'bad.json');
    await writeFile(bad, JSON.stringify({ name: 'x', clusters: [] }));
    const { code, find } = await doctor(['--config', bad]);
    expect(find('configuration')).toMatchObject({ state: 'problem', found: expect.stringContaining('service') });
    expect(code).toBe(1);
  });

  it('prints for people the verdict first, and what to do below each look', async () => {
    plane.subscriptions = [];
    const { out } = await runCollector(['doctor', '--config', config], { now });
    expect(out.split('\n')[0]).toBe('1 problem, 1 warning; 9 in order.');
    expect(out).toMatch(
      /^x subscriptions: not subscribed: night@example\.com; .*\n {4}Do: subscribe again, .*\n {4}aws sns /m,
    );
  });
});
