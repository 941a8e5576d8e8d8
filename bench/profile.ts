import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

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

/** Where a profile's samples belong, by what stands in the path of the source; the first that matches counts. */
const parts: readonly [part: string, source: RegExp][] = [
  ['idle', /^\(idle\)$/],
  ['garbage collection', /^\(garbage collector\)$/],
  ['native code outside any function', /^\((program|root)\)$/],
  ['check of the bodies', /\/lambda\/body\//],
  ['collector, otherwise', /\/lambda\//],
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
  ['Node, otherwise', /^node:/],
];

/** Milliseconds of the main thread by part; what zlib's threads take is not in a profile. */
export function summariseProfile(profileFile: string, bundleFile: string): Map<string, number> {
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
