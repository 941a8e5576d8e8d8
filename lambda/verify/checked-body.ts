import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { checksumText } from '../archive/archive-object';
import { DamagedObjectError } from './archive-reader';

export const wrongChecksum = 'the stored bytes do not have the checksum they were written with';

/**
 * Compares stored bytes with the checksum that the archive keeps of them.
 * @param expected their CRC-32 in base64, as S3 has it; undefined: the archive keeps none
 * @throws DamagedObjectError
 */
export function compareChecksum(sum: number, expected: string | undefined): void {
  if (expected !== undefined && checksumText(sum) !== expected) throw new DamagedObjectError(wrongChecksum);
}

/** The same of a stream, at its end. */
export function checkedStream(stored: Readable, expected: string | undefined): Readable {
  const checked = async function* () {
    let sum = 0;
    for await (const chunk of stored as AsyncIterable<Buffer>) {
      sum = crc32(chunk, sum);
      yield chunk;
    }
    compareChecksum(sum, expected);
  };
  return Readable.from(checked(), { objectMode: false }).once('close', () => stored.destroy());
}
