import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configurations, everything, templateOf } from './example-stack';
import { importTemplateOf } from './import-template';

const isInstalled = spawnSync('cfn-lint', ['--version']).status === 0;
const { replicateTo: _, ...archive } = everything.archive;

const templates = [
  ...configurations.map(([what, changes]) => [what, templateOf(changes)] as const),
  ['what is imported', importTemplateOf(templateOf({ ...everything, apiKeySecret: undefined, archive }))] as const,
];

(isInstalled ? describe : describe.skip)(`cfn-lint${isInstalled ? '' : ' (not installed)'} finds no error`, () => {
  it.each(templates)('in %s', (_, template) => {
    const folder = mkdtempSync(join(tmpdir(), 'cfn-lint-'));
    try {
      const file = join(folder, 'template.json');
      writeFileSync(file, JSON.stringify(template));
      const { stdout } = spawnSync('cfn-lint', ['--non-zero-exit-code', 'error', '--format', 'parseable', '--', file]);
      expect(
        stdout
          .toString()
          .split('\n')
          .filter((line) => /:E\d+:/.test(line)),
      ).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
