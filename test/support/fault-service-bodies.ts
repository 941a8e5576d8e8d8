import { gzipSync } from 'node:zlib';

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

/** Bodies that are no record of `uid`, although each is served as one. */
export function wrongRecords(uid: string): (string | Buffer)[] {
  return [
    logRecord({ uid: `not-${uid}` }),
    JSON.stringify({ spec: { clusterUid: uid, log: 42 } }),
    invalidUtf8Record(uid),
    `{"spec":{"clusterUid":${JSON.stringify(uid)},"log":"a","clusterUid":"another"}}`,
  ];
}

/** A record with bytes that are not UTF-8 in its log, or elsewhere. */
export function invalidUtf8Record(uid: string, where: 'log' | 'state' = 'state'): Buffer {
  const [head, tail] = recordEnds(uid, where);
  return Buffer.concat([head, Buffer.from([0x61, 0xc3, 0x28, 0xff, 0x62]), tail]);
}

export function htmlPage(): string {
  return '<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n';
}

export function errorDocument(): string {
  return '{"code":"INTERNAL","message":"something went wrong","details":[]}';
}

/** A record of exactly `bytes` bytes, made piece by piece: the memory it takes does not grow with it. */
export function* hugeLogRecord({ uid, bytes }: { uid: string; bytes: number }): Generator<Buffer> {
  const [head, tail] = recordEnds(uid);
  const line = '2026-11-20T10:00:00.000Z node-1 kubelet[1187]: "something" happened, again and again\n';
  const lines = Buffer.from(JSON.stringify(line.repeat(2500)).slice(1, -1));
  yield head;
  let left = bytes - head.length - tail.length;
  for (; left >= lines.length; left -= lines.length) yield lines;
  yield Buffer.alloc(left, 'x');
  yield tail;
}

/** gzip that is about a thousandth of its content: a record of exactly `bytes` bytes. Made piece by piece. */
export function* gzipBomb({ uid, bytes }: { uid: string; bytes: number }): Generator<Buffer> {
  const [head, tail] = recordEnds(uid);
  const plain = Buffer.alloc(2 ** 20, 'a');
  const packed = gzipSync(plain);
  // Several gzip members one after another are one gzip stream (RFC 1952, section 2.2).
  yield gzipSync(head);
  let left = bytes - head.length - tail.length;
  for (; left >= plain.length; left -= plain.length) yield packed;
  yield gzipSync(plain.subarray(0, left));
  yield gzipSync(tail);
}

/** What a record has before and after the text of its log, or of its state. */
function recordEnds(uid: string, where: 'log' | 'state' = 'log'): [Buffer, Buffer] {
  const opening = `"${where}":"`;
  const record = logRecord({ uid, [where]: '' });
  const at = record.indexOf(opening) + opening.length;
  return [Buffer.from(record.slice(0, at)), Buffer.from(record.slice(at))];
}

function defaultLog(uid: string): string {
  return `first line of ${uid}\r\nsecond "line" – é 漢 🙂\n\tthird\n`;
}
