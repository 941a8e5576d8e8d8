import { buffer } from 'node:stream/consumers';
import type { RunRecord } from '../../archive/format/run-record';
import type { ArchiveReader, ListedObject, OpenedObject } from '../../archive/read/archive-reader';
import type { ArchiveObject } from '../../lambda/collect/put/archive-object';
import type { PutResult } from '../../lambda/collect/put/s3-archive';
import { recordOf } from './record-text';

/** An archive in memory, for tests of the core. */
export class FakeArchive implements ArchiveReader {
  readonly bucket = 'archive';
  readonly location = 's3://archive';
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

  async open(key: string): Promise<OpenedObject | undefined> {
    const content = this.stored.get(key);
    return content && { storedBytes: content.length, metadata: {}, body: [content] };
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    for (const [key, content] of [...this.stored].sort(([a], [b]) => (a < b ? -1 : 1)))
      if (key.startsWith(prefix)) yield { key, storedBytes: content.length, writtenAt: new Date(0) };
  }

  async *listNames(): AsyncGenerator<never> {}

  async head(key: string): Promise<OpenedObject | undefined> {
    return this.open(key);
  }

  async time(): Promise<undefined> {
    return undefined;
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
