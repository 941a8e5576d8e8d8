import { Readable } from 'node:stream';
import { parseRunRecordKey } from '../../../lambda/archive/archive-layout';
import { jsonLinesType } from '../../../lambda/archive/archive-object';
import { Stop } from '../../../lambda/stop';
import type { OpenedObject } from '../../../lambda/verify/archive-reader';
import { auditMadeUp } from './audit-made-up';
import { MadeUpArchive } from './made-up-archive';

const mib = 2 ** 20;
const recordBytes = 200 * mib;

function* repeated(text: string, bytes: number): Generator<Buffer> {
  const chunk = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  for (let written = 0; written < bytes; written += chunk.length) yield chunk.subarray(0, bytes - written);
}

/** A run record that somebody made up: its length, and its lines behind a first one that is right. */
const hostile: Readonly<Record<string, (first: Buffer) => Iterable<Buffer>>> = {
  'empty lists in one line': () => repeated('[],', recordBytes),
  'empty lists, each in a line': (first) => withFirst(first, () => repeated('[]\n', recordBytes - first.length)),
  'lists in lists': () => repeated('[', recordBytes),
  'line feeds': () => repeated('\n', recordBytes),
  'a million outcomes': (first) => outcomes(first, 220),
  'an end that never comes': () => repeated('[],', Number.POSITIVE_INFINITY),
};

function* withFirst(first: Buffer, others: () => Iterable<Buffer>): Generator<Buffer> {
  yield first;
  yield* others();
}

/** As many valid lines, each of another cluster, as the record has room for. */
function* outcomes(first: Buffer, length: number): Generator<Buffer> {
  const { outcomes: _, counts, ...run } = JSON.parse(String(first));
  const count = Math.floor((recordBytes - 2000) / length);
  const start = Buffer.from(
    `${JSON.stringify({ ...run, counts: { ...counts, failed: count, archived: 0 }, outcomes: count })}\n`,
  );
  yield start;
  const rest = recordBytes - start.length - count * length;
  for (let at = 0; at < count; at += 1) {
    const line = JSON.stringify({ cluster: `${at}`, resource: 'log', outcome: 'failed', error: '' });
    yield Buffer.from(`${line.slice(0, -2)}${'x'.repeat(length - line.length - 1 + (at === 0 ? rest : 0))}"}\n`);
  }
}

/** An archive whose newest run record is hostile. */
class HostileArchive extends MadeUpArchive {
  readonly #name: string;

  constructor(name: string) {
    super({ clusters: 10, shards: 1, runs: 3 });
    this.#name = name;
  }

  override async open(key: string): Promise<OpenedObject | undefined> {
    const opened = await super.open(key);
    const run = parseRunRecordKey(key)?.run;
    if (opened === undefined || run === undefined || this.now.getTime() - run.getTime() > 3_600_000) return opened;
    let first = Buffer.alloc(0);
    for await (const chunk of opened.body) first = Buffer.concat([first, chunk]);
    first = first.subarray(0, first.indexOf('\n') + 1);
    const chunks = hostile[this.#name]?.(first) ?? [];
    const body = Readable.from(chunks, { objectMode: false });
    return { storedBytes: recordBytes, contentType: jsonLinesType, metadata: {}, body };
  }
}

/** A process that audits such an archive once, and sends what it found and what it took. */
async function main(name: string): Promise<void> {
  const archive = new HostileArchive(name);
  const stop = new Stop(() => 3_600_000);
  const began = process.cpuUsage();
  const { found, damage } = await auditMadeUp(archive, stop);
  stop.close();
  const { user, system } = process.cpuUsage(began);
  process.send?.({ found, damage, seconds: (user + system) / 1e6, mib: process.resourceUsage().maxRSS / 1024 });
}

const [name = ''] = process.argv.slice(2);
void main(name);
