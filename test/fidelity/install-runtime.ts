import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { newFolder } from '../support/new-folder';

/** The runtime interface client of Lambda's managed Node.js runtime, as AWS publishes it. It needs Node 22. */
const clientPackage = 'aws-lambda-ric@4.0.2';

/** Node's major version in the function's runtime (infra/node-function.ts). */
const nodeMajor = '24';

/** What Lambda runs a Node.js function with. The client is the runtime interface client. */
export interface LambdaRuntime {
  /** Path of the Node binary. */
  readonly node: string;
  /** `24.21.0` */
  readonly nodeVersion: string;
  /** Path of the client's program. */
  readonly client: string;
  remove(): void;
}

/** The runtime cannot be installed: there is no network, or no binary for this machine. */
export class RuntimeUnavailableError extends Error {
  override readonly name = 'RuntimeUnavailableError';
}

/**
 * Installs the runtime from the package registry into a temporary folder, which `remove` deletes. The client's native
 * part is not compiled; rapid-client.ts replaces it.
 * @throws RuntimeUnavailableError
 */
export function installRuntime(): LambdaRuntime {
  const folder = newFolder();
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    install(folder, [clientPackage, '--ignore-scripts']);
    const client = join(folder, 'node_modules', 'aws-lambda-ric');
    putTransport(join(client, 'rapid-client.node'));
    const node = process.versions.node.startsWith(`${nodeMajor}.`) ? process.execPath : installNode(folder);
    const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    if (status !== 0)
      throw new RuntimeUnavailableError(`Running ${node} failed: this Node ${nodeMajor} is not for this machine`);
    return { node, nodeVersion: stdout.trim().slice(1), client: join(client, 'index.mjs'), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function installNode(parent: string): string {
  const folder = join(parent, 'node');
  mkdirSync(folder);
  // Its install script downloads the binary for this platform.
  install(folder, [`node@${nodeMajor}`]);
  return join(folder, 'node_modules', 'node', 'bin', 'node');
}

function install(folder: string, args: readonly string[]): void {
  const options = ['--prefix', folder, '--no-audit', '--no-fund', '--no-save', '--loglevel=error'];
  const { status, error, stderr } = spawnSync('npm', ['install', ...options, ...args], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 240_000,
  });
  if (status === 0) return;
  const reason = error?.message ?? stderr.split('\n').find((line) => line.includes('error')) ?? `status ${status}`;
  throw new RuntimeUnavailableError(`npm install ${args[0]} failed: ${reason}`, { cause: error });
}

/** `require` finds a folder with the native module's name where the module itself does not exist. */
function putTransport(folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}');
  buildSync({
    entryPoints: [join(__dirname, 'rapid-client.ts')],
    outfile: join(folder, 'index.js'),
    bundle: true,
    platform: 'node',
    target: 'node22',
    logLevel: 'error',
  });
}
