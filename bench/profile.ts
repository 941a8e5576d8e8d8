import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, resolve } from 'node:path';
import { type Contender, contenders } from './contenders';
import { type RunOptions, runContender } from './run-contender';
import type { Scenario } from './scenarios';

/** Runs the rows of our function once more under V8's profiler, and prints what the main thread's time is spent on. */
export async function profileScenario({ entries }: Scenario, options: RunOptions, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const entry of entries) {
    const { needsFunction }: Contender = contenders[entry.contender];
    if (!needsFunction) continue;
    const profile = mkdtempSync(join(resolve(folder), 'profile-'));
    const { failed } = await runContender(entry, { ...options, profile });
    const [file] = readdirSync(profile);
    if (failed !== undefined || file === undefined) {
      console.log(`\nProfile of ${entry.name}: ${failed ?? 'V8 wrote none'}`);
      continue;
    }
    const sums = sumProfile(join(profile, file), join(options.built.function, 'index.js'));
    const total = [...sums.values()].reduce((sum, ms) => sum + ms, 0);
    console.log(
      `\nProfile of ${entry.name}, the main thread's ${(total / 1000).toFixed(2)} s by part (${join(profile, file)})`,
    );
    for (const [part, ms] of sums)
      if (ms >= total / 200) console.log(`  ${((100 * ms) / total).toFixed(1).padStart(5)} %  ${part}`);
  }
}

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
      readonly columnNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Names the part that a sample belongs to, by the path of its source. The first match counts. */
const parts: readonly [part: string, source: RegExp][] = [
  ['idle', /^\(idle\)$/],
  ['garbage collection', /^\(garbage collector\)$/],
  ['native code outside functions', /^\((program|root)\)$/],
  ['check of bodies', /\/lambda\/body\//],
  ['rest of the collector', /\/lambda\//],
  ['AWS SDK', /@aws-sdk|@smithy|@aws-crypto|@aws\//],
  ['other packages', /node_modules/],
  ['TLS and sockets', /^node:(_tls|tls|net|internal\/(tls|stream_base|net|js_stream|dtrace))/],
  ['HTTP', /^node:(_http|http|https|internal\/http|url|internal\/url|internal\/idna)/],
  [
    'streams, events and promises',
    /^node:(stream|events|internal\/(streams|event|abort|process|async|timers|per_context|util|promise|webstreams)|timers|domain|async_hooks)/,
  ],
  ['hashes, compression and buffers', /^node:(zlib|crypto|internal\/(crypto|buffer)|buffer)/],
  ['files', /^node:(fs|internal\/fs)/],
  ['rest of Node', /^node:/],
];

/** The main thread's milliseconds by part. A profile does not contain the time of zlib's threads. */
function sumProfile(profileFile: string, bundleFile: string): Map<string, number> {
  const profile: CpuProfile = JSON.parse(readFileSync(profileFile, 'utf8'));
  const map = new SourceMap(JSON.parse(readFileSync(`${bundleFile}.map`, 'utf8')));
  const partOf = new Map<number, string>();
  for (const { id, callFrame } of profile.nodes) {
    const { functionName, url, lineNumber, columnNumber } = callFrame;
    const entry = url.endsWith('index.js') ? map.findEntry(lineNumber, columnNumber) : {};
    const source = 'originalSource' in entry ? `/${entry.originalSource}` : url === '' ? functionName : url;
    partOf.set(id, parts.find(([, pattern]) => pattern.test(source))?.[0] ?? 'native functions');
  }
  const sums = new Map<string, number>();
  profile.samples.forEach((id, index) => {
    const part = partOf.get(id) ?? 'unknown';
    sums.set(part, (sums.get(part) ?? 0) + (profile.timeDeltas[index] ?? 0) / 1000);
  });
  return new Map([...sums].sort(([, a], [, b]) => b - a));
}
