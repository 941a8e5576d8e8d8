import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { keepingGuide } from '../infra/guides';
import { newFolder } from '../support/new-folder';

const blocks = [...keepingGuide.matchAll(/(?:^ {7}.*\n|^\n(?= {7}))+/gm)].map(([text]) => text.replace(/^ {7}/gm, ''));
const script = blocks.find((block) => block.includes('erase.sh')) ?? '';

/**
 * Runs the script of the guide. This process goes on meanwhile: a client that did not notice that an idle connection was
 * closed would use it for its next request.
 * @param variables where S3 is, and the credentials
 * @param args bucket, prefix and options
 */
export async function runErase(variables: NodeJS.ProcessEnv, ...args: string[]) {
  const file = join(newFolder(), 'erase.sh');
  writeFileSync(file, script);
  const child = spawn('bash', [file, ...args], { env: { ...process.env, ...variables } });
  child.stdin.end();
  const closed = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = await closed;
  return { status: status as number | null, out: out.trim().split('\n'), err };
}
