import { between, pick, seededRandom } from './seeded-random';

const minute = 60_000;

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
