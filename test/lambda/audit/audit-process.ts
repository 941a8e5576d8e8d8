import { Readable } from 'node:stream';
import { parseRunRecordKey } from '../../../archive/format/keys';
import { jsonLinesType } from '../../../archive/format/object-headers';
import type { OpenedObject } from '../../../archive/read/archive-reader';
import { type AuditResult, audit } from '../../../lambda/audit/audit';
import { Stop } from '../../../lambda/stop';
import { heldBytes } from '../../support/held-bytes';
import { TestKey } from './invoke-audit';
import { collectorVersion, MadeUpArchive, type MadeUpFleet } from './made-up-archive';
import { plan } from './sealed-world';

/** What a process of its own audits, at the archive's own time: what others leave in memory is not counted. */
export interface Audit extends MadeUpFleet {
  readonly mayReadObjects?: boolean;
  /** The newest run record is hostile in this way. */
  readonly hostile?: string | undefined;
}

export interface Audited extends Pick<AuditResult, 'found' | 'verified' | 'damage'> {
  /** Most bytes that were in use after a garbage collection, buffers included; 0 if objects may be read. */
  readonly held: number;
  /** Resident set at its height, in bytes. */
  readonly peak: number;
  /** Of processor time. */
  readonly seconds: number;
}

const mib = 2 ** 20;
const recordBytes = 200 * mib;

function* repeated(text: string, bytes: number): Generator<Buffer> {
  const chunk = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  for (let written = 0; written < bytes; written += chunk.length) yield chunk.subarray(0, bytes - written);
}

/** A run record that somebody made up: its length, and its lines behind a first one that is right. */
const hostile: Readonly<Record<string, (first: Buffer) => Iterable<Buffer>>> = {
  'lists in lists': () => repeated('[', recordBytes),
  'a million outcomes': (first) => outcomes(first, 220),
  'an end that never comes': () => repeated('[],', Number.POSITIVE_INFINITY),
};

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

  constructor(fleet: MadeUpFleet, name: string) {
    super(fleet);
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

async function main({ mayReadObjects = false, hostile, ...fleet }: Audit): Promise<void> {
  const archive = hostile === undefined ? new MadeUpArchive(fleet) : new HostileArchive(fleet, hostile);
  const stop = new Stop(() => 3_600_000);
  let held = 0;
  const measure = () => {
    if (!mayReadObjects) held = Math.max(held, heldBytes());
  };
  archive.onRecord = measure;
  archive.onObject = () => {
    archive.onObject = () => undefined;
    measure();
    if (!mayReadObjects) stop.outOfTime();
  };
  const before = process.cpuUsage();
  const { found, verified, damage } = await audit(archive.now, {
    plan: { ...plan, clusters: archive.clusters.map((uid) => ({ uid })) },
    reader: archive,
    sink: { bucket: 'archive', put: async (object) => archive.bucket.put(object, archive.now) },
    signer: new TestKey(),
    mail: async () => undefined,
    requestStamp: () => Promise.reject(new Error('nobody is asked')),
    clock: { now: () => archive.now },
    stop: stop.working,
    reporter: { sealed: () => undefined, notMailed: () => undefined },
    collectorVersion,
  });
  stop.close();
  const { user, system } = process.cpuUsage(before);
  const peak = process.resourceUsage().maxRSS * 1024;
  const audited: Audited = { found, verified, damage, held, peak, seconds: (user + system) / 1e6 };
  process.send?.(audited);
}

void main(JSON.parse(process.argv[2] ?? '{}'));
