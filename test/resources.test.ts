import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstResources, resourceNames, resources } from '../archive/format/resources';

const root = join(__dirname, '..');
const sources = ['archive', 'bench', 'cli', 'infra', 'lambda', 'local']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith('.ts'));

describe('a resource', () => {
  it('is compared with a literal nowhere: what differs between resources stands in tables that the compiler holds', () => {
    const literal = `['"](?:${resourceNames.join('|')})['"]`;
    // Other things may have such a name too: a kind of failure, a member of JSON.
    const comparison = new RegExp(`(?:resource|name)\\)? ?[!=]==? ?${literal}|\\bcase ${literal}`, 'i');
    const found = sources.filter((file) => comparison.test(readFileSync(join(root, file), 'utf8')));
    expect(sources.length).toBeGreaterThan(200);
    expect(found).toEqual([]);
  });

  it('is looked at by the commands of docs/proof.md', () => {
    const folders = resourceNames.map((name) => resources[name].folder);
    const commands = readFileSync(join(root, 'docs/proof.md'), 'utf8').match(/\\\((?:\w+\\\|)+\w+\\\)\/\[/g);
    expect(new Set(commands)).toEqual(new Set([`\\(${folders.join('\\|')}\\)/[`]));
  });

  it('is known to the second reader, and described in docs/format.md', () => {
    const python = readFileSync(join(root, 'cli/export/check_archive.py'), 'utf8');
    const format = readFileSync(join(root, 'docs/format.md'), 'utf8');
    for (const name of resourceNames) {
      expect(python).toContain(`'${name}': '${resources[name].folder}/'`);
      expect(format).toContain(`\`${resources[name].folder}/cluster=<uid>/`);
    }
  });

  it('of a cluster in an archive of before that names none is one of the first two, for ever', () => {
    expect(firstResources).toEqual(['log', 'manifest']);
  });
});
