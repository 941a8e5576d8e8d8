import { pathToFileURL } from 'node:url';
import { createLogRecordCheck } from '../lambda/body/log-record';

/** What the check of one log record costs against JSON.parse of the same bytes, in the same run. */
export interface RecordCheckFigures {
  readonly mebibytes: number;
  readonly rounds: number;
  /** Medians over the rounds, in MB (10^6 bytes) per second of CPU: other load on the machine does not decide. */
  readonly check: number;
  readonly jsonParse: number;
  /** check / jsonParse. */
  readonly ratio: number;
  /** Medians for a log outside ASCII, in the same unit. */
  readonly checkOutsideAscii: number;
  readonly jsonParseOutsideAscii: number;
}

const clusterUid = '6f1c2a52-4f0e-4d5c-9a35-3f3b8d1f7a10';
const chunkBytes = 64 * 1024;

/**
 * Measures the streaming check of a log record, in chunks of 64 KiB, against JSON.parse, which needs it whole as a
 * string. The contenders take turns in every round.
 */
export function measureRecordCheck({ mebibytes = 200, rounds = 5 } = {}): RecordCheckFigures {
  const ascii = measure(logRecord(mebibytes, 'GET /v2/servers/detail status: 200'), rounds);
  const outside = measure(logRecord(mebibytes, 'Übertragung größer als 日本語のログ'), rounds);
  return {
    mebibytes,
    rounds,
    ...ascii,
    ratio: ascii.check / ascii.jsonParse,
    checkOutsideAscii: outside.check,
    jsonParseOutsideAscii: outside.jsonParse,
  };
}

function measure(record: Buffer, rounds: number): { check: number; jsonParse: number } {
  const check: number[] = [];
  const jsonParse: number[] = [];
  for (let round = 0; round < rounds; round++) {
    check.push(speed(record, checkInChunks));
    jsonParse.push(speed(record, (whole) => JSON.parse(whole.toString('utf8'))));
  }
  return { check: median(check), jsonParse: median(jsonParse) };
}

function checkInChunks(record: Buffer): void {
  const check = createLogRecordCheck(clusterUid);
  for (let at = 0; at < record.length; at += chunkBytes) check.write(record.subarray(at, at + chunkBytes));
  check.end();
}

function speed(record: Buffer, work: (record: Buffer) => unknown): number {
  const begin = process.cpuUsage();
  work(record);
  const { user, system } = process.cpuUsage(begin);
  return record.length / (user + system);
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** A log record of the size given whose log has lines of some 200 bytes. */
function logRecord(mebibytes: number, text: string): Buffer {
  const head = `{"metadata":{"uid":"1","labels":{}},"spec":{"clusterUid":"${clusterUid}","log":"`;
  const tail = '"},"status":{"state":"Ready"}}';
  const parts = [head];
  let length = head.length + tail.length;
  for (let line = 0; length < mebibytes * 1024 * 1024; line++) {
    const time = new Date(1_795_000_000_000 + line * 37).toISOString();
    const id = (line * 2_654_435_761).toString(16).padStart(14, '0');
    const part = JSON.stringify(
      `${time} ${25_000 + (line % 97)} INFO nova.osapi_compute.wsgi.server [req-${id}-2096-447d-96ea ${id}${id}] ` +
        `10.11.10.${line % 250} "${text}" len: ${line % 5000} time: 0.${line % 7919}\n`,
    ).slice(1, -1);
    parts.push(part);
    length += Buffer.byteLength(part);
  }
  return Buffer.from(parts.join('') + tail);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(process.version, measureRecordCheck());
}
