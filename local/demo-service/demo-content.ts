import { between, pick, type Random, seededRandom } from './seeded-random';
import type { ClusterSource } from './start-demo-service';

const minute = 60_000;

/** Made-up content for any uid, the same for the same uid and time: logs grow, some manifests change, states vary. */
export function demoContent(): ClusterSource {
  return {
    log: async (uid, at) => ({
      log: demoLog(uid, at),
      state: pick(seededRandom(`state of ${uid} in ${Math.floor(at.getTime() / (20 * minute))}`), states),
      lastModified: new Date(Math.floor(at.getTime() / minute) * minute),
    }),
    manifest: async (uid, at) => demoManifest(uid, at),
  };
}

/** The contract does not show the values of `status.state` (service contract, section 3): these are the demo's own. */
const states = ['Available', 'Available', 'Available', 'Collecting', 'Outdated'] as const;

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
