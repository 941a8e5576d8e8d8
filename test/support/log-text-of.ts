import { createHash } from 'node:crypto';
import type { LogText } from '../../archive/format/log-digest';

/** What a record says of its log, once more. @param literal the bytes between the quotes of `spec.log` */
export function logTextOf(literal: string | Buffer): Required<LogText> {
  const text: string = JSON.parse(`"${literal}"`);
  return {
    logLength: Buffer.byteLength(text),
    logLines: linesOf(text),
    logSha256: createHash('sha256').update(literal).digest('hex'),
  };
}

function linesOf(text: string): number {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.length - 1 : lines.length;
}
