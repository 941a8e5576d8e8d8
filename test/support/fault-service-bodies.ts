/** What is left out is filled with a default. */
export interface RecordParts {
  readonly uid: string;
  readonly log?: string;
  readonly state?: string;
}

/** A log-fetcher record as the contract describes it. */
export function logRecord({ uid, log = defaultLog(uid), state = 'Available' }: RecordParts): string {
  return JSON.stringify({
    metadata: {
      annotations: { note: 'made by a test' },
      creationTimestamp: '2026-01-02T03:04:05Z',
      deletionTimestamp: null,
      labels: {},
      lastModifiedTimestamp: '2026-11-20T09:59:58Z',
      name: `fetcher-${uid}`,
      uid: `record-of-${uid}`,
    },
    spec: { clusterUid: uid, log },
    status: { state },
  });
}

export function manifestText(uid: string): string {
  return `apiVersion: example/v1\nkind: Cluster\nmetadata:\n  name: ${JSON.stringify(uid)}\n  note: "é – 漢 🙂"\r\n`;
}

export function htmlPage(): string {
  return '<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n';
}

export function errorDocument(): string {
  return '{"code":"INTERNAL","message":"something went wrong","details":[]}';
}

/** A record of exactly `bytes` bytes, made piece by piece: the memory it takes does not grow with it. */
export function* hugeLogRecord({ uid, bytes }: { uid: string; bytes: number }): Generator<Buffer> {
  const log = '<log>';
  const [head, tail] = logRecord({ uid, log })
    .split(log)
    .map((end) => Buffer.from(end)) as [Buffer, Buffer];
  const line = '2026-11-20T10:00:00.000Z node-1 kubelet[1187]: "something" happened, again and again\n';
  const lines = Buffer.from(JSON.stringify(line.repeat(2500)).slice(1, -1));
  yield head;
  let left = bytes - head.length - tail.length;
  for (; left >= lines.length; left -= lines.length) yield lines;
  yield Buffer.alloc(left, 'x');
  yield tail;
}

function defaultLog(uid: string): string {
  return `first line of ${uid}\r\nsecond "line" – é 漢 🙂\n\tthird\n`;
}
