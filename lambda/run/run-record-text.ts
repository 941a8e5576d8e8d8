import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Content } from '../archive/archive-object';
import { memoryLimitBytes } from '../body/spool';
import type { RunRecord } from './run-record';

/** About how much of a record is text at once, in characters. */
const pieceLength = 64 * 1024;

/** A record as its one line of JSON, piece by piece: that of 45,000 clusters has 50 MB, which would be in memory thrice. */
export function* recordPieces({ outcomes, ...rest }: RunRecord): Generator<string> {
  let piece = `${JSON.stringify(rest).slice(0, -1)},"outcomes":[`;
  let separator = '';
  for (const outcome of outcomes) {
    piece += separator + JSON.stringify(outcome);
    separator = ',';
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]}\n`;
}

/** What is stored of a record; a long one is made anew, piece by piece, each time it is sent. */
export function recordContent(record: RunRecord): Content {
  let length = 0;
  let crc = 0;
  for (const piece of recordPieces(record)) {
    length += Buffer.byteLength(piece);
    crc = crc32(piece, crc);
  }
  if (length <= memoryLimitBytes) return Buffer.from([...recordPieces(record)].join(''));
  return { length, crc32: crc, open: () => Readable.from(recordPieces(record), { objectMode: false }) };
}

/** Whether a text is what would be stored of a record. */
export function isRecordText(text: string, record: RunRecord): boolean {
  let compared = 0;
  for (const piece of recordPieces(record)) {
    if (!text.startsWith(piece, compared)) return false;
    compared += piece.length;
  }
  return compared === text.length;
}
