import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { newFolder } from '../support/new-folder';

const root = join(__dirname, '..', '..');
const run = promisify(execFile);

/** A service of somebody else: the two calls of README.md, "Does it fit your service?". */
const service = `
const { createServer } = require('node:http');

const clusters = { 'east-1': 'nodes: 3', 'west-1': 'nodes: 5' };

const server = createServer((request, response) => {
  const [, version, collection, uid, ...rest] = request.url.split('/');
  const answer = (status, type, body) => {
    response.writeHead(status, { 'content-type': type });
    response.end(body);
  };
  if (request.headers.apikey !== 'secret') return answer(401, 'text/plain', 'who are you?');
  if (version !== 'v1' || collection !== 'platformclusters' || !(uid in clusters))
    return answer(404, 'text/plain', 'no such cluster');
  switch (rest.join('/')) {
    case 'features/logFetcher': {
      const log = \`2026-11-20T09:58:12Z \${uid} is well\\n\`;
      const record = { metadata: {}, spec: { clusterUid: uid, log }, status: { state: 'Ready' } };
      return answer(200, 'application/json', JSON.stringify(record));
    }
    case 'assets/manifest':
      return answer(200, 'text/yaml', \`cluster: \${uid}\\n\${clusters[uid]}\\n\`);
    default:
      return answer(404, 'text/plain', 'no such call');
  }
});

server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

let server: ChildProcess | undefined;

afterAll(() => server?.kill());

it('a new user archives a service of 30 lines and shows it, with a clone and npm alone', async () => {
  const work = newFolder();
  const { NODE_OPTIONS: _, ...own } = process.env;
  const env = { ...own, COLLECTOR_API_KEY: 'secret' };
  const typed = async (folder: string, program: string, ...args: string[]) =>
    (await run(program, args, { cwd: folder, env, maxBuffer: 2 ** 26 })).stdout;

  writeFileSync(join(work, 'service.cjs'), service);
  server = spawn(process.execPath, [join(work, 'service.cjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (server.stdout === null) throw new Error('the service has no output');
  const [port] = await once(createInterface({ input: server.stdout }), 'line');

  const clone = join(work, 'clone');
  await typed(work, 'git', 'clone', '--quiet', root, clone);
  await typed(clone, 'npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund');
  const configuration = {
    $schema: './collector.schema.json',
    name: 'mine',
    service: { baseUrl: `http://127.0.0.1:${port}` },
    clusters: ['east-1', 'west-1'],
    schedule: { expression: 'cron(0 * * * ? *)' },
  };
  writeFileSync(join(clone, 'my.json'), JSON.stringify(configuration));

  expect(await typed(clone, 'npm', 'start', '--', '--config', 'my.json', '--folder', 'my-archive')).toContain(
    '4 of 4 archived',
  );
  const collector = (...args: string[]) =>
    typed(clone, 'npm', 'run', '--silent', 'collector', '--', ...args, '--archive', 'my-archive');
  expect(await collector('show', 'west-1', '--resource', 'manifest')).toBe('cluster: west-1\nnodes: 5\n');
  expect(await collector('log', 'east-1')).toContain('east-1 is well');
  await collector('verify');
  // In milliseconds. npm downloads everything if its cache is empty.
}, 900_000);
