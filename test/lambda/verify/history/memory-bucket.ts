import { Readable } from 'node:stream';
import type { ArchiveObject } from '../../../../lambda/archive/archive-object';
import type { ArchiveReader, ListedObject, ObjectHead, OpenedObject } from '../../../../lambda/verify/archive-reader';

export interface MemoryObject {
  readonly body: Buffer;
  readonly writtenAt: Date;
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A bucket in memory: the writing side of an attempt, and the reader of a verification. */
export class MemoryBucket implements ArchiveReader {
  readonly location = 'memory';
  readonly objects = new Map<string, MemoryObject>();
  /** What its own clock shows; undefined: it has none. */
  clock: Date | undefined;

  put({ key, content, metadata = {}, ...headers }: ArchiveObject, writtenAt: Date): 'archived' | 'already-archived' {
    if (this.objects.has(key)) return 'already-archived';
    if (!Buffer.isBuffer(content)) throw new Error(`${key} is too long for a test`);
    this.objects.set(key, { ...headers, body: content, metadata, writtenAt });
    return 'archived';
  }

  /** Changes an object that is there. */
  change(key: string, changes: Partial<MemoryObject>): void {
    const object = this.objects.get(key);
    if (object === undefined) throw new Error(`there is no ${key}`);
    this.objects.set(key, { ...object, ...changes });
  }

  keys(prefix: string): string[] {
    return [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  copy(): MemoryBucket {
    const copy = new MemoryBucket();
    for (const [key, object] of this.objects) copy.objects.set(key, object);
    copy.clock = this.clock;
    return copy;
  }

  async *list(prefix: string, after = ''): AsyncGenerator<ListedObject> {
    for (const key of this.keys(prefix)) {
      const object = this.objects.get(key);
      if (key <= after || object === undefined) continue;
      yield { key, storedBytes: object.body.length, writtenAt: object.writtenAt };
    }
  }

  async time(): Promise<Date | undefined> {
    return this.clock;
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    const object = this.objects.get(key);
    return object && { ...object, storedBytes: object.body.length };
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    const object = this.objects.get(key);
    return object && { ...object, storedBytes: object.body.length, body: Readable.from([object.body]) };
  }
}
