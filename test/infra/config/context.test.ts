import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContextError, readContext } from '../../../infra/collector-app';

const root = join(__dirname, '..', '..', '..');
const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));

describe('the context', () => {
  it('chooses the configuration, and is for a synthesis only', () => {
    expect(readContext({ ...read('cdk.json').context, config: 'prod.json' })).toEqual({
      config: 'prod.json',
      deploys: false,
      shortensRetention: false,
      qualifier: 'hnb659fds',
    });
    expect(readContext({ shortenRetention: 'true', '@aws-cdk/core:bootstrapQualifier': 'mine' })).toEqual({
      config: 'collector.json',
      deploys: false,
      shortensRetention: true,
      qualifier: 'mine',
    });
  });

  it('has no key in cdk.json of which the command line warns', () => {
    expect(Object.keys(read('cdk.json').context).filter((key) => key.startsWith('aws:'))).toEqual([]);
  });

  it('may have any key of CDK', () => {
    const keys = ['@aws-cdk/core:x', 'aws:cdk:bundling-stacks', 'vpc-provider:account=1', 'acknowledged-issue-numbers'];
    expect(() => readContext(Object.fromEntries(keys.map((key) => [key, 1])))).not.toThrow();
  });

  it.each(['conf', 'Config', 'stage', 'configFile'])('refuses the key %s, and names the one that was meant', (key) => {
    expect(() => readContext({ config: 'collector.json', [key]: 'prod.json' })).toThrow(ContextError);
    expect(() => readContext({ [key]: 'prod.json' })).toThrow(
      `received "${key}", expected "config". Write -c config=FILE to choose a configuration file.`,
    );
  });

  it('says that npm run deploy deploys', () => {
    const [, key = '', value] = /^cdk deploy -c (\w+)=(\w+)$/.exec(read('package.json').scripts.deploy) ?? [];
    expect(readContext({ [key]: value }).deploys).toBe(true);
  });
});
