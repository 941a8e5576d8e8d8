import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { scenarios } from '../../bench/scenarios';

const root = join(__dirname, '..', '..');

it('npm run bench measures every contender that is installed, and all of them do everything', () => {
  const command = ['--import', 'tsx', join(root, 'bench', 'main.ts'), '--quick'];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: expect.any(String), stderr: expect.any(String) });
  const [, ...tables] = stdout.split(/^(?=[\w-]+: )/m);
  expect(tables.map((table) => table.split(':')[0])).toEqual(scenarios.map(({ name }) => name));
  const figure = String.raw`\d+(?:\.\d+)? m?s`;
  const memory = String.raw`\d+\.\d MB`;
  for (const [at, { entries }] of scenarios.entries())
    for (const { name } of entries.filter(({ program }) => program !== 'python-threads.py')) {
      const ratio = name === entries[0]?.name ? '' : String.raw` \(\d+\.\d{3}\)`;
      const cells = [name, figure + ratio, figure + ratio, memory + ratio].map((cell) => `${cell} *`);
      expect(tables[at]).toMatch(new RegExp(String.raw`^\| ${cells.join(String.raw`\| `)}\|`, 'm'));
    }
});
