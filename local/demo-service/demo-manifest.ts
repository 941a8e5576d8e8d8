import { between, pick, seededRandom } from './seeded-random';

const minute = 60_000;

/**
 * The manifest of cluster `uid` as it is at a time: a multi-document YAML text of 5 to 30 KB, the same for the same uid and
 * time. Image versions move every few hours and replica counts every few minutes; some workloads never change.
 */
export function demoManifest(uid: string, at: Date): string {
  const random = seededRandom(`manifest of ${uid}`);
  const namespace = pick(random, ['apps', 'production', 'shop', 'edge']);
  const kubernetes = `1.${between(random, 29, 34)}.${between(random, 0, 9)}`;
  const first = between(random, 0, workloadNames.length - 1);
  const workloads = Array.from({ length: between(random, 4, workloadNames.length) }, (_, index) =>
    workload(uid, workloadNames[(first + index) % workloadNames.length] ?? 'app', namespace, at),
  );
  return [clusterDocument(uid, kubernetes, namespace), ...workloads.map(workloadDocuments)].join('');
}

const workloadNames = ['billing', 'catalog', 'checkout', 'identity', 'ingest', 'notifier', 'orders', 'search'];

interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly version: string;
  readonly replicas: number;
  readonly port: number;
  /** Lines of its ConfigMap. */
  readonly settings: string;
}

function workload(uid: string, name: string, namespace: string, at: Date): Workload {
  const random = seededRandom(`${uid}/${name}`);
  const major = between(random, 1, 4);
  const released = random() < 0.3 ? 0 : period(at, between(random, 2, 9) * 60 * minute, random());
  const scaled = random() < 0.4 ? 0 : period(at, between(random, 2, 11) * minute, random());
  const settings = Array.from({ length: between(random, 8, 22) }, (_, index) => {
    const subject = pick(random, ['CACHE', 'HTTP', 'QUEUE', 'RETRY', 'STORE']);
    return `  ${subject}_${pick(random, ['LIMIT', 'SIZE', 'TTL'])}_${index}: "${between(random, 1, 5000)}"\n`;
  });
  return {
    name,
    namespace,
    version: `${major}.${released % 40}.${between(seededRandom(`${uid}/${name}/release ${released}`), 0, 9)}`,
    replicas: between(seededRandom(`${uid}/${name}/scale ${scaled}`), 2, 7),
    port: between(random, 8000, 8999),
    settings: settings.join(''),
  };
}

/** Number of the period of `length` milliseconds that a time falls into; the phase keeps workloads from changing all at once. */
function period(at: Date, length: number, phase: number): number {
  return Math.floor(at.getTime() / length + phase);
}

/** JSON strings are YAML strings, whatever the uid contains. */
function clusterDocument(uid: string, kubernetes: string, namespace: string): string {
  return `---
# Desired state of the cluster; written by its controller, not by hand.
apiVersion: fleet.example/v1
kind: Cluster
metadata:
  name: ${JSON.stringify(uid)}
spec:
  kubernetesVersion: ${JSON.stringify(kubernetes)}
  network:
    pods: 10.244.0.0/16
    services: 10.96.0.0/12
---
apiVersion: v1
kind: Namespace
metadata:
  name: ${namespace}
`;
}

function workloadDocuments(one: Workload): string {
  return `---
apiVersion: apps/v1
kind: Deployment
${metadata(one)}spec:
  replicas: ${one.replicas}
  selector:
    matchLabels:
      app.kubernetes.io/name: ${one.name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: ${one.name}
        app.kubernetes.io/managed-by: fleet-controller
    spec:
      containers:
        - name: ${one.name}
          image: registry.example/${one.name}:${one.version}
          ports:
            - { name: http, containerPort: ${one.port} }
          envFrom:
            - configMapRef:
                name: ${one.name}
          readinessProbe:
            httpGet: { path: /ready, port: http }
            periodSeconds: 10
          resources:
            requests: { cpu: 100m, memory: 128Mi }
            limits: { memory: 512Mi }
---
apiVersion: v1
kind: Service
${metadata(one)}spec:
  ports:
    - { name: http, port: 80, targetPort: ${one.port} }
  selector:
    app.kubernetes.io/name: ${one.name}
---
apiVersion: v1
kind: ConfigMap
${metadata(one)}data:
${one.settings}  motd: |
    Grüße aus dem Cluster – "bitte" nicht stören.
`;
}

function metadata({ name, namespace }: Workload): string {
  return `metadata:
  name: ${name}
  namespace: ${namespace}
  labels:
    app.kubernetes.io/name: ${name}
    app.kubernetes.io/managed-by: fleet-controller
`;
}
