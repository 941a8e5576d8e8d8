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
  return [
    ['# Desired state of the cluster; written by its controller, not by hand.', ...clusterDocument(uid, kubernetes)],
    ['apiVersion: v1', 'kind: Namespace', 'metadata:', `  name: ${namespace}`],
    ...workloads.flatMap((one) => [deployment(one), service(one), configMap(one), disruptionBudget(one)]),
  ]
    .map((document) => `---\n${document.join('\n')}\n`)
    .join('');
}

const workloadNames = ['billing', 'catalog', 'checkout', 'identity', 'ingest', 'notifier', 'orders', 'search'];

interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly version: string;
  readonly replicas: number;
  readonly port: number;
  readonly settings: number;
}

function workload(uid: string, name: string, namespace: string, at: Date): Workload {
  const random = seededRandom(`${uid}/${name}`);
  const major = between(random, 1, 4);
  const released = random() < 0.3 ? 0 : period(at, between(random, 2, 9) * 60 * minute, random());
  const scaled = random() < 0.4 ? 0 : period(at, between(random, 2, 11) * minute, random());
  return {
    name,
    namespace,
    version: `${major}.${released % 40}.${between(seededRandom(`${uid}/${name}/release ${released}`), 0, 9)}`,
    replicas: between(seededRandom(`${uid}/${name}/scale ${scaled}`), 2, 7),
    port: between(random, 8000, 8999),
    settings: between(random, 8, 22),
  };
}

/** Number of the period of `length` milliseconds that a time falls into; the phase keeps workloads from changing all at once. */
function period(at: Date, length: number, phase: number): number {
  return Math.floor(at.getTime() / length + phase);
}

function labels({ name }: Workload, indent: string): string[] {
  return [`${indent}app.kubernetes.io/name: ${name}`, `${indent}app.kubernetes.io/managed-by: fleet-controller`];
}

function head(apiVersion: string, kind: string, one: Workload): string[] {
  return [
    `apiVersion: ${apiVersion}`,
    `kind: ${kind}`,
    'metadata:',
    `  name: ${one.name}`,
    `  namespace: ${one.namespace}`,
    '  labels:',
    ...labels(one, '    '),
  ];
}

function clusterDocument(uid: string, kubernetes: string): string[] {
  return [
    'apiVersion: fleet.example/v1',
    'kind: Cluster',
    'metadata:',
    // JSON strings are YAML strings, whatever the uid contains.
    `  name: ${JSON.stringify(uid)}`,
    'spec:',
    `  kubernetesVersion: ${JSON.stringify(kubernetes)}`,
    '  network:',
    '    pods: 10.244.0.0/16',
    '    services: 10.96.0.0/12',
  ];
}

function deployment(one: Workload): string[] {
  return [
    ...head('apps/v1', 'Deployment', one),
    'spec:',
    `  replicas: ${one.replicas}`,
    '  selector:',
    '    matchLabels:',
    ...labels(one, '      '),
    '  template:',
    '    metadata:',
    '      labels:',
    ...labels(one, '        '),
    '    spec:',
    '      serviceAccountName: default',
    '      containers:',
    `        - name: ${one.name}`,
    `          image: registry.example/${one.name}:${one.version}`,
    '          ports:',
    `            - { name: http, containerPort: ${one.port} }`,
    '          envFrom:',
    '            - configMapRef:',
    `                name: ${one.name}`,
    '          readinessProbe:',
    '            httpGet: { path: /ready, port: http }',
    '            periodSeconds: 10',
    '          resources:',
    '            requests: { cpu: 100m, memory: 128Mi }',
    '            limits: { memory: 512Mi }',
  ];
}

function service(one: Workload): string[] {
  return [
    ...head('v1', 'Service', one),
    'spec:',
    '  ports:',
    `    - { name: http, port: 80, targetPort: ${one.port} }`,
    '  selector:',
    ...labels(one, '    '),
  ];
}

function configMap(one: Workload): string[] {
  const random = seededRandom(`settings of ${one.namespace}/${one.name}`);
  const settings = Array.from({ length: one.settings }, (_, index) => {
    const name = `${pick(random, ['CACHE', 'HTTP', 'QUEUE', 'RETRY', 'STORE'])}_${pick(random, ['LIMIT', 'SIZE', 'TTL'])}_${index}`;
    return `  ${name}: "${between(random, 1, 5000)}"`;
  });
  return [
    ...head('v1', 'ConfigMap', one),
    'data:',
    ...settings,
    '  motd: |',
    '    Grüße aus dem Cluster – "bitte" nicht stören.',
  ];
}

function disruptionBudget(one: Workload): string[] {
  return [
    ...head('policy/v1', 'PodDisruptionBudget', one),
    'spec:',
    '  minAvailable: 1',
    '  selector:',
    '    matchLabels:',
    ...labels(one, '      '),
  ];
}
