import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../infra/function-bundle';
import { sandbox } from './sandbox';
import { accountFile, SandboxError } from './sandbox-account';
import { CommandError, DryShell, RealShell } from './shell';

/** Entry of `npm run sandbox`. */
async function main(): Promise<void> {
  const interruption = new AbortController();
  // The command that is under way gets the signal too, and fails.
  process.once('SIGINT', () => interruption.abort());
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: projectRoot, encoding: 'utf8' }).trim();
  const folder = join(projectRoot, '.sandbox');
  process.exitCode = await sandbox(process.argv.slice(2), {
    file: join(projectRoot, accountFile),
    shell: (isDry) => (isDry ? new DryShell(folder, say) : new RealShell(folder, say)),
    say,
    interrupted: interruption.signal,
    commit: () => `${git('rev-parse', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ' and changes'}`,
    keep: (report) => writeFileSync(join(projectRoot, 'sandbox-report.md'), report),
  });
}

main().catch((error: unknown) => {
  if (!(error instanceof SandboxError || error instanceof CommandError)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = error instanceof SandboxError ? 2 : 1;
});
