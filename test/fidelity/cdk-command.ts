import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { credentials, region, templateHost } from './moto-account';

const root = join(__dirname, '..', '..');

/** The project's CDK command line, in an environment from which only moto can be reached. */
export interface CdkCommand {
  /**
   * @returns everything that the command printed
   * @throws Error with everything that it printed, if it failed
   */
  run(args: readonly string[]): Promise<string>;
  /** Everything that it tried to reach beside moto: `CONNECT host:port`, or method and URL. */
  readonly callsElsewhere: readonly string[];
  close(): Promise<void>;
}

/**
 * @param endpoint stands in for all of AWS: `http://127.0.0.1:<port>`
 * @param home an empty folder, so that no profile or configuration of the user is read
 */
export async function startCdkCommand(endpoint: string, home: string): Promise<CdkCommand> {
  const callsElsewhere: string[] = [];
  const proxy = createServer((request, response) => {
    callsElsewhere.push(`${request.method} ${request.url}`);
    response.writeHead(502).end();
  });
  proxy.on('connect', (request, socket) => {
    callsElsewhere.push(`CONNECT ${request.url}`);
    socket.destroy();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const elsewhere = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    CI: 'true',
    NODE_NO_WARNINGS: '1',
    HTTP_PROXY: elsewhere,
    HTTPS_PROXY: elsewhere,
    NO_PROXY: '127.0.0.1',
    npm_config_registry: elsewhere,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_S3_FOR_CLOUDFORMATION: templateHost(endpoint),
  };
  return {
    callsElsewhere,
    run: async (args) => {
      const cdk = join(root, 'node_modules', 'aws-cdk', 'bin', 'cdk');
      const child = spawn(process.execPath, [cdk, ...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
      const [[status], ...output] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
      const printed = output.join('');
      if (status !== 0) throw new Error(`cdk ${args.join(' ')} failed with ${status}:\n${printed}`);
      return printed;
    },
    close: async () => {
      proxy.close();
      proxy.closeAllConnections();
      await once(proxy, 'close');
    },
  };
}
