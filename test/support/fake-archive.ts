import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { RunRecord } from '../../archive/format/run-record';
import type { ArchiveObject, StoredContent } from '../../lambda/collect/put/archive-object';
import type { PutResult } from '../../lambda/collect/put/s3-archive';
import type { RecordBucket } from '../../lambda/collect/run/record-store';
import { recordOf } from './record-text';

/** An archive in memory, for tests of the core. */
export class FakeArchive implements RecordBucket {
  readonly bucket = 'archive';
  /** What is stored, by key. */
  readonly stored: Map<string, Buffer>;

  constructor(texts: Readonly<Record<string, string>> = {}) {
    this.stored = new Map(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text)]));
  }

  async put({ key, content }: ArchiveObject): Promise<PutResult> {
    if (this.stored.has(key)) return 'already-archived';
    this.stored.set(key, Buffer.isBuffer(content) ? content : await buffer(content.open()));
    return 'archived';
  }

  async open(key: string): Promise<StoredContent | undefined> {
    const content = this.stored.get(key);
    return content && { length: content.length, body: Readable.from([content]) };
  }

  async keys(prefix: string): Promise<string[]> {
    return [...this.stored.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  /** Run records in the order in which they were written. */
  get records(): RunRecord[] {
    return [...this.stored].flatMap(([key, content]) => (key.startsWith('runs/') ? recordOf(content) : []));
  }

  /** Keys of everything else. */
  get objects(): string[] {
    return [...this.stored.keys()].filter((key) => !key.startsWith('runs/'));
  }
}
