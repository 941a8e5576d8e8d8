import { between, pick, type Random, seededRandom } from './seeded-random';

const minute = 60_000;

/** The contract does not show the values of `status.state` (service contract, section 3): these are the demo's own. */
const states = ['Available', 'Available', 'Available', 'Collecting', 'Outdated'] as const;

/** The state of cluster `uid` at a time, the same for the same uid and time. */
export function demoState(uid: string, at: Date): string {
  return pick(seededRandom(`state of ${uid} in ${Math.floor(at.getTime() / (20 * minute))}`), states);
}

const rotation = 360 * minute;

/**
 * The log of a node of cluster `uid` at a time: 30 to 200 KB of lines, the same for the same uid and time. It grows at
 * its end and is rotated every six hours: what is older than the last whole period is then gone.
 */
export function demoLog(uid: string, at: Date): string {
  const random = seededRandom(`log of ${uid}`);
  const offset = between(random, 0, rotation / minute) * minute;
  const slot = between(random, 18, 40) * 1000;
  const nodes = Array.from({ length: 3 }, () => `node-${pick(random, ['a', 'b', 'c'])}${between(random, 1, 40)}`);
  const start = Math.floor((at.getTime() - offset) / rotation) * rotation + offset - rotation;
  const lines: string[] = [];
  // Every slot of time has its own seed: lines that were written once do not change.
  for (let index = Math.ceil(start / slot); index * slot <= at.getTime(); index += 1)
    lines.push(...slotLines(seededRandom(`${uid}/${index}`), nodes, index * slot, slot, at.getTime()));
  return lines.join('');
}

function slotLines(random: Random, nodes: readonly string[], from: number, length: number, until: number): string[] {
  const events = pick(random, [0, 0, 0, 0, 0, 1, 1, 1, 2]);
  const times = Array.from({ length: events }, () => from + Math.floor(random() * length)).sort((a, b) => a - b);
  const node = nodes[between(random, 0, nodes.length - 1)];
  return times
    .filter((time) => time <= until)
    .map((time) => `${new Date(time).toISOString()} ${node} ${messageOf(random)(random, pick(random, apps))}\n`);
}

const apps = ['billing', 'catalog', 'checkout', 'filialen-münchen', 'identity', 'ingest', 'orders', 'search'] as const;

type Message = (random: Random, app: string) => string;

/** Trouble is rare: a search for it finds some lines of a log, not a fifth of them. */
function messageOf(random: Random): Message {
  return pick(random, random() < 1 / 30 ? troubles : routine);
}

const routine: [Message, ...Message[]] = [
  (r, app) => `kubelet[1187]: I pod sync done pod="${app}/${app}-${hex(r)}" took="${between(r, 2, 480)}ms"`,
  (r, app) =>
    `ingress[3310]: ${pick(r, ['GET', 'GET', 'POST'])} /${app}/v2/items/${between(r, 1, 90_000)} ${pick(r, ['200', '204', '304', '404'])} ${between(r, 1, 900)}ms "${pick(r, ['curl', 'mobile', 'browser'])}"`,
  (r, app) => `${app}[1]:\tjob ${hex(r)} – ${between(r, 10, 5000)} rows skipped, path C:\\jobs\\${hex(r)}`,
];

const troubles: [Message, ...Message[]] = [
  (r, app) =>
    `kernel: memory limit reached in ${app}-${hex(r)}: process ${between(r, 900, 32_000)} stopped, ${between(r, 128, 2048)} MiB in use`,
  (r) =>
    `etcd[2044]: {"level":"warn","msg":"slow disk","operation":"wal fsync","took":"${between(r, 1100, 4800)}ms","expected":"1000ms"}`,
];

function hex(random: Random): string {
  return between(random, 0, 0xffff_ffff).toString(16).padStart(8, '0');
}

const workloads = ['billing', 'catalog', 'checkout', 'identity', 'ingest', 'notifier', 'orders', 'search'];

/**
 * The manifest of cluster `uid` as it is at a time: a multi-document YAML text of 5 to 30 KB, the same for the same uid and
 * time. Image versions move every few hours and replica counts every few minutes; some workloads never change.
 */
export function demoManifest(uid: string, at: Date): string {
  const random = seededRandom(`manifest of ${uid}`);
  const namespace = pick(random, ['apps', 'production', 'shop', 'edge']);
  const version = `1.${between(random, 29, 34)}.${between(random, 0, 9)}`;
  const names = workloads.slice(0, between(random, 5, workloads.length));
  return [
    // JSON strings are YAML strings, whatever the uid contains.
    document('fleet.example/v1', 'Cluster', JSON.stringify(uid), `spec:\n  kubernetesVersion: ${version}\n`),
    document('v1', 'Namespace', namespace, ''),
    ...names.map((name) => workloadDocuments(uid, name, namespace, at)),
  ].join('');
}

function document(apiVersion: string, kind: string, name: string, rest: string): string {
  return `---\napiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n${rest}`;
}

/** A deployment, and the settings of its containers. */
function workloadDocuments(uid: string, name: string, namespace: string, at: Date): string {
  const random = seededRandom(`${uid}/${name}`);
  const major = between(random, 1, 4);
  const released = random() < 0.3 ? 0 : period(at, between(random, 2, 9) * 60 * minute, random());
  const scaled = random() < 0.4 ? 0 : period(at, between(random, 2, 11) * minute, random());
  const patch = between(seededRandom(`${uid}/${name}/release ${released}`), 0, 9);
  const settings = Array.from({ length: between(random, 18, 40) }, (_, index) => {
    const subject = pick(random, ['CACHE', 'HTTP', 'QUEUE', 'RETRY', 'STORE']);
    return `  ${subject}_${pick(random, ['LIMIT', 'SIZE', 'TTL'])}_${index}: "${between(random, 1, 5000)}"\n`;
  });
  const spec = `  namespace: ${namespace}
  labels:
    app.kubernetes.io/name: ${name}
    app.kubernetes.io/managed-by: fleet-controller
spec:
  replicas: ${between(seededRandom(`${uid}/${name}/scale ${scaled}`), 2, 7)}
  selector:
    matchLabels:
      app.kubernetes.io/name: ${name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: ${name}
    spec:
      containers:
        - name: ${name}
          image: registry.example/${name}:${major}.${released % 40}.${patch}
          ports:
            - { name: http, containerPort: ${between(random, 8000, 8999)} }
          envFrom:
            - configMapRef:
                name: ${name}
          resources:
            requests: { cpu: 100m, memory: 128Mi }
`;
  const data = `  namespace: ${namespace}
data:
${settings.join('')}  motd: |
    Grüße aus dem Cluster – "bitte" nicht stören.
`;
  return document('apps/v1', 'Deployment', name, spec) + document('v1', 'ConfigMap', name, data);
}

/** Number of the period of `length` milliseconds that a time falls into; the phase keeps workloads from changing all at once. */
function period(at: Date, length: number, phase: number): number {
  return Math.floor(at.getTime() / length + phase);
}
