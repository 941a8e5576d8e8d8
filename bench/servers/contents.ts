import { demoLog, demoManifest } from '../../local/demo-service/demo-content';

const at = new Date(1_795_000_000_000);

const lineEnd = '\\n';
/** So long that it does not repeat within the window of any compressor used here. */
const text = logLines(8 * 1024 * 1024);

/** Logs of the demo service, one behind the other, escaped as inside a JSON string. */
function logLines(bytes: number): Buffer {
  const logs: Buffer[] = [];
  let length = 0;
  while (length < bytes) {
    const log = Buffer.from(JSON.stringify(demoLog(`log-${logs.length}`, at)).slice(1, -1));
    logs.push(log);
    length += log.length;
  }
  return Buffer.concat(logs);
}

/** The parts of a log record of a length in bytes. They are slices of one text, and none of it is copied. */
export function logBody(index: number, cluster: string, bytes: number): readonly Buffer[] {
  const head = Buffer.from(
    `{"metadata":{"annotations":{},"labels":{},"name":"log-fetcher","uid":"${index}","creationTimestamp":"2025-03-17T08:00:00.000Z"},"spec":{"clusterUid":${JSON.stringify(cluster)},"log":"`,
  );
  const tail = Buffer.from('"},"status":{"state":"Ready"}}');
  const parts: Buffer[] = [head];
  let missing = bytes - head.length - tail.length;
  // Each cluster starts at another line, so that no two bodies are equal.
  let from = lineStartBefore((index * 9973) % (text.length >> 1));
  while (missing > 0) {
    const end = lineStartBefore(from + missing);
    const part = end > from ? text.subarray(from, end) : Buffer.alloc(missing, ' ');
    parts.push(part);
    missing -= part.length;
    from = end === text.length ? 0 : end;
  }
  return [...parts, tail];
}

/** The last start of a line at or before an offset. */
function lineStartBefore(offset: number): number {
  if (offset >= text.length) return text.length;
  const end = text.lastIndexOf(lineEnd, Math.max(0, offset - lineEnd.length));
  return end < 0 ? 0 : end + lineEnd.length;
}

/** A manifest of about a length in bytes, as a JSON string. */
export function manifestBody(index: number, bytes: number): Buffer {
  let yaml = '';
  for (let part = 0; yaml.length < bytes; part += 1) yaml += demoManifest(`manifest-${index}-${part}`, at);
  const long = Buffer.byteLength(JSON.stringify(yaml));
  return Buffer.from(JSON.stringify(yaml.slice(0, (yaml.length * bytes) / long)));
}
