import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../support/new-folder';
import { configurations, everything, templateOf } from './example-stack';
import { importTemplateOf } from './import-template';

const isInstalled = spawnSync('cfn-lint', ['--version']).status === 0;
const { replicateTo: _, ...archive } = everything.archive;

const templates = [
  ...configurations.map(([, changes]) => templateOf(changes)),
  importTemplateOf(templateOf({ ...everything, apiKeySecret: undefined, archive })),
];

(isInstalled ? it : it.skip)('cfn-lint, where it is installed, finds no error in any template', () => {
  const folder = newFolder();
  const files = templates.map((template, index) => {
    const file = join(folder, `${index}.json`);
    writeFileSync(file, JSON.stringify(template));
    return file;
  });
  // One call for all: it takes three seconds to load its rules, and half a second for a template.
  const { status, stdout } = spawnSync('cfn-lint', [
    '--non-zero-exit-code',
    'error',
    '--format',
    'parseable',
    '--',
    ...files,
  ]);
  const errors = stdout.toString().match(/^.*:E\d+:.*$/gm);
  expect({ status, errors }).toEqual({ status: 0, errors: null });
});
