import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { createApp } from '../infra/collector-app';
import { parseConfig } from '../infra/config/config';
import type { RunSummary } from '../lambda/run/run-record';
import { collectionFile } from '../lambda/stack-contract';
import type { ClusterSource } from '../local/demo-service/cluster-source';
import { demoLog } from '../local/demo-service/demo-log';
import { demoManifest } from '../local/demo-service/demo-manifest';
import { startDemoService } from '../local/demo-service/start-demo-service';
import { deployLocally } from '../local/deployment/deploy-locally';

/**
 * What a very large fleet costs on the way to its shards: the configuration is checked and synthesised whole, deployed
 * locally, and one shard of it is collected by the real bundle, twice: cold and warm.
 *
 *     npx tsx bench/large-fleet.ts [clusters] [shards] [latency of the service in ms] [requests at once]
 */
const [clusters = 1_000_000, shards = 500, latencyMs = 100, concurrency = 16] = process.argv.slice(2).map(Number);

async function main(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'large-fleet-'));
  const apiKey = 'the-api-key';
  const service = await startDemoService({ apiKey, source: sameForAll(), latencyMs });
  try {
    const uids = Array.from({ length: clusters }, (_, index) => uidOf(index));
    const json = {
      name: 'large-fleet',
      service: { baseUrl: service.url },
      clusters: uids,
      schedule: { expression: 'cron(0 3 * * ? *)' },
      limits: { concurrency },
      shards,
    };
    const config = timed('checking the configuration', () => parseConfig(json, 'large-fleet.json'));
    const outdir = join(root, 'cdk.out');
    const assembly = timed('synthesising the stack', () => createApp({ config, outdir, validate: false }).app.synth());
    const asset = readdirSync(outdir).find((name) => name.startsWith('asset.')) ?? '';
    const list = readFileSync(join(outdir, asset, collectionFile));
    say('list of clusters in the function', `${mib(list.length)}, compressed ${mib(deflateRawSync(list).length)}`);
    say('memory of the synthesis at its height', mib(process.resourceUsage().maxRSS * 1024));

    const folder = join(root, 'archive');
    const deployment = await deployLocally({ assembly, folder, secretValue: apiKey });
    try {
      for (const [index, kind] of ['cold', 'warm'].entries()) {
        const before = functionProcess().processorMs;
        const started = performance.now();
        const { payload, error } = await deployment.invoke({
          scheduledTime: '2026-11-20T12:00:00Z',
          shard: { index, count: shards },
        });
        if (error !== undefined) throw new Error(error.errorMessage);
        const { counts, durationMs, record = '' } = payload as RunSummary;
        const wall = performance.now() - started;
        const collected = counts.archived / 2;
        const recordBytes = statSync(join(folder, new URL(record).pathname)).size;
        say(
          `shard ${index}, ${kind}`,
          `${collected} clusters in ${seconds(durationMs)}, ${seconds(wall - durationMs)} before and after`,
        );
        say('  clusters per second', (collected / (durationMs / 1000)).toFixed(1));
        const spent = functionProcess().processorMs;
        say('  processor time per cluster', `${((spent - before) / collected).toFixed(1)} ms`);
        say('  run record', `${Math.round(recordBytes / (2 * collected))} bytes per outcome`);
      }
      say('memory of the function at its height', mib(functionProcess().largestBytes));
    } finally {
      await deployment.close();
    }
  } finally {
    await service.close();
    rmSync(root, { recursive: true });
  }
}

/** Made once, so that the service costs the machine little. */
function sameForAll(): ClusterSource {
  const at = new Date('2026-11-20T12:00:00Z');
  const log = demoLog('any', at);
  const manifest = demoManifest('any', at);
  say('content per cluster', `log ${mib(log.length)}, manifest ${mib(manifest.length)}`);
  return {
    clusterUids: async () => [],
    log: async () => log,
    manifest: async () => manifest,
    describe: async () => ({ state: 'Available', lastModified: at }),
  };
}

/** As long as a UUID, and as hard to compress. */
function uidOf(index: number): string {
  const hex = Buffer.from(BigUint64Array.of(BigInt(index) * 0x9e3779b97f4a7c15n, BigInt(index) ** 3n).buffer).toString(
    'hex',
  );
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function timed<Result>(what: string, act: () => Result): Result {
  const started = process.cpuUsage();
  const result = act();
  const { user, system } = process.cpuUsage(started);
  say(what, `${seconds((user + system) / 1000)} of processor time`);
  return result;
}

/** What the one process of the function has used so far, its start included; Linux only. */
function functionProcess(): { processorMs: number; largestBytes: number } {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const read = (file: string) =>
      existsSync(`/proc/${pid}/${file}`) ? readFileSync(`/proc/${pid}/${file}`, 'utf8') : '';
    const [, parent, ...rest] = read('stat')
      .replace(/^.*\) /s, '')
      .split(' ');
    if (Number(parent) !== process.pid || !read('cmdline').includes('local-function-')) continue;
    // User and system time, in hundredths of a second.
    const ticks = Number(rest[9]) + Number(rest[10]);
    const kib = Number(/VmHWM:\s+(\d+) kB/.exec(read('status'))?.[1]);
    return { processorMs: ticks * 10, largestBytes: kib * 1024 };
  }
  return { processorMs: 0, largestBytes: 0 };
}

function say(what: string, value: string): void {
  console.log(`${what.padEnd(40)} ${value}`);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
