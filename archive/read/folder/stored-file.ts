import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { keyProblem } from '../../format/folder-layout';
import { type ObjectMetadata, readMetadata } from './object-description';
import { type FilePath, openRegular, readRegular } from './regular-file';

/** An object that lies in a folder. */
export interface StoredFile {
  readonly metadata: ObjectMetadata;
  /** Opens the bytes. Ends with an IrregularFileError if they are not in a regular file. */
  open(): Readable;
  /** The bytes of a small object. @throws IrregularFileError if they are not in a regular file */
  bytes(): Buffer;
}

/** Its bytes not yet opened; undefined: nothing lies under the key, such as one that cannot lie in a folder. */
export function openStoredFile(folder: string, key: string): StoredFile | undefined {
  const place = { folder, path: key };
  const metadata = keyProblem(key) === undefined ? readMetadata(place) : undefined;
  if (metadata === undefined) return undefined;
  return {
    metadata,
    open: () => Readable.from(streamOf(place), { objectMode: false }),
    bytes: () => readRegular(place, metadata.size),
  };
}

async function* streamOf(place: FilePath): AsyncGenerator<Buffer> {
  yield* createReadStream('', { fd: openRegular(place).file });
}
