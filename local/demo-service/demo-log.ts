import { between, pick, type Random, seededRandom } from './seeded-random';

const minute = 60_000;
const rotation = 360 * minute;

/**
 * The log of a node of cluster `uid` at a time: 30 to 200 KB of lines, the same for the same uid and time. It grows at
 * its end and is rotated every six hours: what is older than the last whole period is then gone.
 */
export function demoLog(uid: string, at: Date): string {
  const random = seededRandom(`log of ${uid}`);
  const offset = between(random, 0, rotation / minute) * minute;
  const slot = between(random, 18, 40) * 1000;
  const cluster: Cluster = {
    nodes: [nodeName(random), nodeName(random), nodeName(random)],
    apps: [pick(random, apps), pick(random, apps), pick(random, apps)],
  };
  const start = Math.floor((at.getTime() - offset) / rotation) * rotation + offset - rotation;
  const lines: string[] = [];
  // Every slot of time has its own seed: lines that were written once do not change.
  for (let index = Math.ceil(start / slot); index * slot <= at.getTime(); index += 1)
    lines.push(...slotLines(seededRandom(`${uid}/${index}`), cluster, index * slot, slot, at.getTime()));
  return lines.join('');
}

interface Cluster {
  readonly nodes: [string, ...string[]];
  readonly apps: [string, ...string[]];
}

function slotLines(random: Random, cluster: Cluster, from: number, length: number, until: number): string[] {
  const events = pick(random, [0, 0, 0, 0, 0, 1, 1, 1, 2]);
  const burst = random() < 0.008 ? between(random, 4, 9) : 0;
  if (events + burst === 0) return [];
  const times = Array.from({ length: events + burst }, () => from + Math.floor(random() * length)).sort(
    (a, b) => a - b,
  );
  const node = pick(random, cluster.nodes);
  const messages = times.map((_, index) => (index < burst ? pick(random, troubles) : pick(random, routine)));
  return times
    .map((time, index) => `${new Date(time).toISOString()} ${node} ${messages[index]?.(random, cluster)}\n`)
    .filter((_, index) => (times[index] ?? 0) <= until);
}

type Message = (random: Random, cluster: Cluster) => string;

const apps = ['billing', 'catalog', 'checkout', 'filialen-münchen', 'identity', 'ingest', 'orders', 'search'] as const;

const routine: [Message, ...Message[]] = [
  (r, c) =>
    `kubelet[1187]: I pod sync done pod="${pod(r, c)}" took="${between(r, 2, 480)}ms" containers=${between(r, 1, 3)}`,
  (r, c) =>
    `containerd[902]: level=info msg="image is present" ref="registry.example/${pick(r, c.apps)}:${version(r)}" digest="sha256:${hex(r, 24)}"`,
  (r) =>
    `etcd[2044]: {"level":"info","msg":"compaction finished","revision":${between(r, 100_000, 999_999)},"took":"${between(r, 9, 90)}ms"}`,
  (r, c) =>
    `ingress[3310]: ${pick(r, ['GET', 'GET', 'POST'])} /${pick(r, c.apps)}/v2/items/${between(r, 1, 90_000)} ${pick(r, ['200', '204', '304', '404'])} ${between(r, 1, 900)}ms "${pick(r, ['curl', 'mobile', 'browser'])}"`,
  (r, c) =>
    `${pick(r, c.apps)}[1]:\tjob ${hex(r, 6)} – ${between(r, 10, 5000)} rows, ${between(r, 0, 9)} skipped, path C:\\jobs\\${hex(r, 4)}`,
];

const troubles: [Message, ...Message[]] = [
  (r, c) =>
    `kubelet[1187]: E liveness probe failed pod="${pod(r, c)}" reason="no answer within ${between(r, 1, 10)}s" failures=${between(r, 1, 5)}`,
  (r, c) =>
    `kernel: memory limit reached in ${pod(r, c)}: process ${between(r, 900, 32_000)} stopped, ${between(r, 128, 2048)} MiB in use`,
  (r) =>
    `etcd[2044]: {"level":"warn","msg":"slow disk","operation":"wal fsync","took":"${between(r, 1100, 4800)}ms","expected":"1000ms"}`,
];

function pod(random: Random, { apps }: Cluster): string {
  const app = pick(random, apps);
  return `${app}/${app}-${hex(random, 9)}-${hex(random, 5)}`;
}

function nodeName(random: Random): string {
  return `node-${pick(random, ['a', 'b', 'c'])}${between(random, 1, 40)}`;
}

function version(random: Random): string {
  return `${between(random, 1, 4)}.${between(random, 0, 20)}.${between(random, 0, 9)}`;
}

function hex(random: Random, length: number): string {
  let digits = '';
  while (digits.length < length) digits += between(random, 0, 0xffff).toString(16).padStart(4, '0');
  return digits.slice(0, length);
}
