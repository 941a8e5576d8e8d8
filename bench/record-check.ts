import { createLogRecordCheck } from '../lambda/body/log-record';
import { median } from './median';
import { logLines } from './servers/log-lines';

const clusterUid = '6f1c2a52-4f0e-4d5c-9a35-3f3b8d1f7a10';
const chunkBytes = 64 * 1024;
const linesBytes = 4_000_000;

/** How often the work is done in one process: once would measure the compiler. */
const times = 5;

/** A log record in ASCII, which JSON.parse is fastest with, of about the length given in bytes. */
export function longRecord(bytes: number): Buffer {
  const lines = Buffer.from(
    logLines(Math.min(bytes, linesBytes))
      .text.toString('latin1')
      .replace(/[^ -~]+/g, '?'),
  );
  const head = Buffer.from(`{"metadata":{"uid":"1","labels":{}},"spec":{"clusterUid":"${clusterUid}","log":"`);
  const tail = Buffer.from('"},"status":{"state":"Available"}}');
  return Buffer.concat([head, ...new Array<Buffer>(Math.ceil(bytes / lines.length)).fill(lines), tail]);
}

export function checkInChunks(record: Buffer): void {
  const check = createLogRecordCheck(clusterUid);
  for (let at = 0; at < record.length; at += chunkBytes) check.write(record.subarray(at, at + chunkBytes));
  check.end();
}

export function parseWhole(record: Buffer): void {
  JSON.parse(record.toString('utf8'));
}

/** Median speed in MB (10^6 bytes) per second of processor time: other load on the machine does not decide. */
export function speedOf(work: (record: Buffer) => void, record: Buffer): number {
  const speeds = Array.from({ length: times }, () => {
    const begin = process.cpuUsage();
    work(record);
    const { user, system } = process.cpuUsage(begin);
    return record.length / (user + system);
  });
  return median(speeds);
}
