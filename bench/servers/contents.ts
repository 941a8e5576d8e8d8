import { demoManifest } from '../../local/demo-service/demo-content';
import { between, pick, seededRandom } from '../../local/demo-service/seeded-random';

const components = [
  'compute.manager',
  'osapi.wsgi.server',
  'virt.imagecache',
  'network.agent',
  'scheduler.host',
] as const;
const verbs = ['GET', 'GET', 'GET', 'POST', 'DELETE'] as const;
const places = ['servers/detail', 'servers', 'os-server-external-events', 'flavors', 'images?name=größe'] as const;
const events = ['VM Started', 'VM Paused', 'VM Resumed', 'Deleting instance files', 'Unknown base file'] as const;

const lineEnd = '\\n';
/** So long that it does not repeat within the window of any compressor used here. */
const text = logLines(8 * 1024 * 1024);

/**
 * Lines like those of a busy control plane: unique identifiers, repeated words, and a few characters beyond ASCII.
 * @returns the text, escaped as inside a JSON string
 */
function logLines(bytes: number): Buffer {
  const random = seededRandom('log lines');
  const id = (length: number) => Array.from({ length }, () => between(random, 0, 15).toString(16)).join('');
  const tenants = Array.from({ length: 12 }, () => id(32));
  const lines = Buffer.alloc(bytes + 1024);
  let length = 0;
  for (let time = 1_795_000_000_000; length < bytes; time += between(random, 1, 900)) {
    const tenant = pick(random, ['-', ...tenants]);
    const event =
      random() < 0.6
        ? `10.11.${between(random, 0, 30)}.${between(random, 1, 254)} "${pick(random, verbs)} /v2/${tenant}/${pick(random, places)} HTTP/1.1" status: ${pick(random, ['200', '200', '202', '404'])} len: ${between(random, 100, 9000)} time: 0.${between(random, 10_000, 9_999_999)}`
        : `[instance: ${id(8)}-${id(4)}-${id(4)}-${id(12)}] ${pick(random, events)} (Lifecycle Event)`;
    const line = `${new Date(time).toISOString()} ${between(random, 2000, 2090)} INFO nova.${pick(random, components)} [req-${id(8)}-${id(4)}-${id(4)}-${id(12)} ${tenant} - - -] ${event}\n`;
    length += lines.write(JSON.stringify(line).slice(1, -1), length);
  }
  return lines.subarray(0, length);
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
  for (let part = 0; yaml.length < bytes; part += 1)
    yaml += demoManifest(`manifest-${index}-${part}`, new Date(1_795_000_000_000));
  const long = Buffer.byteLength(JSON.stringify(yaml));
  return Buffer.from(JSON.stringify(yaml.slice(0, (yaml.length * bytes) / long)));
}
