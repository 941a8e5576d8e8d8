import { between, pick, seededRandom } from '../../local/demo-service/seeded-random';

/** Log text, escaped as inside a JSON string, and where it can be cut. */
export interface LogLines {
  readonly text: Buffer;
  /** Offsets at which a line starts. The last one is the text's length. */
  readonly starts: readonly number[];
}

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

/** Lines like those of a busy control plane: unique identifiers, repeated words, and a few characters beyond ASCII. */
export function logLines(bytes: number): LogLines {
  const random = seededRandom('log lines');
  const id = (length: number) => Array.from({ length }, () => between(random, 0, 15).toString(16)).join('');
  const tenants = Array.from({ length: 12 }, () => id(32));
  const parts: Buffer[] = [];
  const starts = [0];
  let length = 0;
  for (let time = 1_795_000_000_000; length < bytes; time += between(random, 1, 900)) {
    const tenant = pick(random, ['-', ...tenants]);
    const event =
      random() < 0.6
        ? `10.11.${between(random, 0, 30)}.${between(random, 1, 254)} "${pick(random, verbs)} /v2/${tenant}/${pick(random, places)} HTTP/1.1" status: ${pick(random, ['200', '200', '202', '404'])} len: ${between(random, 100, 9000)} time: 0.${between(random, 10_000, 9_999_999)}`
        : `[instance: ${id(8)}-${id(4)}-${id(4)}-${id(12)}] ${pick(random, events)} (Lifecycle Event)`;
    const line = `${new Date(time).toISOString()} ${between(random, 2000, 2090)} INFO nova.${pick(random, components)} [req-${id(8)}-${id(4)}-${id(4)}-${id(12)} ${tenant} - - -] ${event}\n`;
    const part = Buffer.from(JSON.stringify(line).slice(1, -1));
    parts.push(part);
    length += part.length;
    starts.push(length);
  }
  return { text: Buffer.concat(parts), starts };
}
