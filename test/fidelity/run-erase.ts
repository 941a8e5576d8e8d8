import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepingGuide } from '../infra/guides';
import { newFolder } from '../support/new-folder';

const blocks = [...keepingGuide.matchAll(/(?:^ {7}.*\n|^\n(?= {7}))+/gm)].map(([text]) => text.replace(/^ {7}/gm, ''));
const script = blocks.find((block) => block.includes('erase.sh')) ?? '';

/**
 * Runs the script of the guide.
 * @param variables where S3 is, and the credentials
 * @param args bucket, prefix and options
 */
export function runErase(variables: NodeJS.ProcessEnv, ...args: string[]) {
  const file = join(newFolder(), 'erase.sh');
  writeFileSync(file, script);
  const env = { ...process.env, ...variables };
  const { status, stdout, stderr } = spawnSync('bash', [file, ...args], { env });
  return { status, out: stdout.toString().trim().split('\n'), err: stderr.toString() };
}
