import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { objectMetadata } from '../../../archive/format/object-metadata';
import { startCollector } from '../../support/program';
import { ArchiveFixture, hour, keyOf } from '../archive-fixture';

const run = new Date(Date.UTC(2026, 10, 20, 9));
const line = 'a line of a log that goes on and on\n';
const lines = 12_000_000;
/** In bytes: far below the 430 MB of the content and what Node itself takes. */
const mostMemory = 350 * 1024 * 1024;

/**
 * In MiB, to join 24 logs of 10 MB. How late V8 collects garbage decides between 150 and 190 of the peak, so the peak only
 * shows that buffers of all logs were never held at once; the heap, which V8 ends the process for, holds far fewer texts.
 */
const [mostHeap, mostForJoining] = [100, 290];

/** A record around a log of very many lines, never whole in memory. */
function* largeRecord(): Generator<Buffer> {
  yield Buffer.from('{"spec":{"clusterUid":"large","log":"');
  const part = Buffer.from(JSON.stringify(line.repeat(1000)).slice(1, -1));
  for (let at = 0; at < lines / 1000; at++) yield part;
  yield Buffer.from('"}}');
}

/** Runs the command line as a process of its own; its memory peak is what it says last. */
async function collector(args: readonly string[], preload: string, nodeArguments: readonly string[] = []) {
  const program = startCollector(args, { nodeArguments: ['--require', preload, ...nodeArguments] });
  const hash = createHash('sha256');
  let length = 0;
  program.stdout.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    length += chunk.length;
  });
  const peak = Number(/peak (\d+)/.exec(await program.end())?.[1]);
  return { peak, length, sha256: hash.digest('hex') };
}

/** Makes a process say its memory peak when it ends. */
async function peakPreload(archive: ArchiveFixture): Promise<string> {
  const preload = join(archive.folder, 'metadata', 'peak.cjs');
  // On Linux maxRSS begins with what the process that spawns had, so the peak is asked of the kernel. Both are in KiB.
  await writeFile(
    preload,
    `process.on('exit', () => {
    let kibibytes = process.resourceUsage().maxRSS;
    try { kibibytes = /VmHWM:\\s+(\\d+)/.exec(require('node:fs').readFileSync('/proc/self/status', 'utf8'))[1]; } catch {}
    process.stderr.write('peak ' + kibibytes * 1024);
  });`,
  );
  return preload;
}

/** Numbered lines of a length in bytes, from one to before another. */
function numberedLines(bytes: number, from: number, to: number): string {
  const texts = Array.from({ length: to - from }, (_, at) => `event ${from + at} `.padEnd(bytes - 1, 'x'));
  return `${texts.join('\n')}\n`;
}

describe('large content', () => {
  it('content of any size streams through show, grep and verify in little memory', async () => {
    const archive = await ArchiveFixture.create();
    const hash = createHash('sha256');
    let length = 0;
    for (const chunk of largeRecord()) {
      hash.update(chunk);
      length += chunk.length;
    }
    const body = await buffer(Readable.from(largeRecord()).pipe(createGzip({ level: 1 })));
    const sha256 = hash.digest('hex');
    const resource = 'log' as const;
    const key = keyOf(resource, 'large', run);
    const facts = { cluster: 'large', resource, run, fetchedAt: run, sha256, length, version: '1.0.0' };
    await archive.put(key, body, objectMetadata(facts));
    const configuration = { clusters: [{ uid: 'large', resources: [resource] }] };
    const answer = () => ({ failed: 'nobody is asked' });
    const small = await archive.attempt({ run, clusters: [], configuration, answer });
    await archive.putRecord({
      ...small,
      status: 'complete',
      counts: { archived: 1, alreadyArchived: 0, failed: 0, notAttempted: 0 },
      outcomes: [
        {
          cluster: 'large',
          resource,
          outcome: 'archived',
          key,
          bytes: length,
          storedBytes: body.length,
          sha256,
          fetchedAt: run.toISOString(),
        },
      ],
    });
    const preload = await peakPreload(archive);

    const shown = await collector(['show', 'large', '--resource', 'log', '--archive', archive.folder], preload);
    expect(shown).toMatchObject({ length: lines * line.length });
    const text = createHash('sha256');
    for (let at = 0; at < lines / 1000; at++) text.update(line.repeat(1000));
    expect(shown.sha256).toBe(text.digest('hex'));
    expect(shown.peak).toBeLessThan(mostMemory);

    const searched = await collector(['grep', '-c', 'goes on', '--archive', archive.folder], preload);
    expect(searched).toMatchObject({
      length: `large ${run.toISOString().replace('.000', '')}: ${lines}\n`.length,
    });
    expect(searched.peak).toBeLessThan(mostMemory);

    const verified = await collector(['verify', '--archive', archive.folder], preload);
    expect(verified.peak).toBeLessThan(mostMemory);
  });

  it.each([
    ['share lines', 0.25],
    ['share none', 1.1],
  ])('log holds one log at most of many that %s', async (_, moves) => {
    const [logs, bytes] = [24, 100];
    const size = 10_000_000 / bytes;
    const linesOf = (at: number) => numberedLines(bytes, at * moves * size, at * moves * size + size);
    const archive = await ArchiveFixture.ofLogs(
      (function* () {
        for (let at = 0; at < logs; at++) yield linesOf(at);
      })(),
    );
    const joined = createHash('sha256');
    if (moves < 1) joined.update(numberedLines(bytes, 0, (logs - 1) * moves * size + size));
    else for (let at = 0; at < logs; at++) joined.update(linesOf(at));
    const args = ['log', 'a', '--from', hour(0).toISOString(), '--archive', archive.folder];
    // The young generation as `npm run collector` has it.
    const limits = ['--max-semi-space-size=2', `--max-old-space-size=${mostHeap}`];
    const { sha256, peak } = await collector(args, await peakPreload(archive), limits);
    expect(sha256).toBe(joined.digest('hex'));
    expect(peak).toBeLessThan(mostForJoining * 1024 * 1024);
  });
});
