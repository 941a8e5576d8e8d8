import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { DamagedObjectError } from '../../../../archive/format/damaged-object-error';
import {
  ArchiveReadError,
  type ArchiveReader,
  type ListedName,
  type ListedObject,
  type ObjectHead,
  type OpenedObject,
} from '../../../../archive/read/archive-reader';
import type { ArchiveObject } from '../../../../lambda/collect/put/archive-object';

export interface MemoryObject {
  readonly body: Buffer;
  readonly writtenAt: Date;
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** Of the body when it was written, as S3 keeps it. */
  readonly crc32: number;
}

/** A bucket in memory: the writing side of an attempt, and the reader of a verification. */
export class MemoryBucket implements ArchiveReader {
  readonly location = 'memory';
  readonly objects = new Map<string, MemoryObject>();
  /** Objects that it refuses to give, as S3 does with those in GLACIER. */
  readonly refused = new Set<string>();
  /** What its own clock shows; undefined: it has none. */
  clock: Date | undefined;

  put({ key, content, metadata = {}, ...headers }: ArchiveObject, writtenAt: Date): 'archived' | 'already-archived' {
    if (this.objects.has(key)) return 'already-archived';
    if (!Buffer.isBuffer(content)) throw new Error(`${key} is too long for a test`);
    this.objects.set(key, { ...headers, body: content, metadata, writtenAt, crc32: crc32(content) });
    return 'archived';
  }

  /** Writes over an object that is there, as somebody may who has the rights. */
  rewrite(key: string, changes: Partial<MemoryObject>): void {
    const object = { ...this.#get(key), ...changes };
    this.objects.set(key, { ...object, crc32: crc32(object.body) });
  }

  /** Changes the bytes of an object behind S3's back. */
  corrupt(key: string, change: (body: Buffer) => Buffer): void {
    const object = this.#get(key);
    this.objects.set(key, { ...object, body: change(object.body) });
  }

  #get(key: string): MemoryObject {
    const object = this.objects.get(key);
    if (object === undefined) throw new Error(`there is no ${key}`);
    return object;
  }

  keys(prefix: string): string[] {
    return [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  copy(): MemoryBucket {
    const copy = new MemoryBucket();
    for (const [key, object] of this.objects) copy.objects.set(key, object);
    for (const key of this.refused) copy.refused.add(key);
    return copy;
  }

  async *list(prefix: string, after = ''): AsyncGenerator<ListedObject> {
    for (const key of this.keys(prefix)) {
      const object = this.objects.get(key);
      if (key <= after || object === undefined) continue;
      yield { key, storedBytes: object.body.length, writtenAt: object.writtenAt };
    }
  }

  async *listNames(prefix: string): AsyncGenerator<ListedName> {
    const names = this.keys(prefix).map((key) => `${prefix}${/^[^/]*\/?/.exec(key.slice(prefix.length))?.[0]}`);
    for (const name of new Set(names)) yield { name };
  }

  async time(): Promise<Date | undefined> {
    return this.clock;
  }

  async head(key: string): Promise<ObjectHead | undefined> {
    const object = this.objects.get(key);
    return object && { ...object, storedBytes: object.body.length };
  }

  async open(key: string): Promise<OpenedObject | undefined> {
    if (this.refused.has(key))
      throw new ArchiveReadError(`Reading ${key} failed: 403 InvalidObjectState`, { isLasting: true });
    const object = this.objects.get(key);
    return object && { ...object, storedBytes: object.body.length, body: Readable.from(checked(object)) };
  }
}

function* checked(object: MemoryObject): Generator<Buffer> {
  yield object.body;
  if (crc32(object.body) !== object.crc32)
    throw new DamagedObjectError('the stored bytes are not those that were written');
}
