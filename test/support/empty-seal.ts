import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { none } from '../../archive/format/counted';
import type { Seal } from '../../archive/format/seal';
import { sealFile, sealLine, sha256Of } from '../../archive/format/seal-file';

const hourly = { expression: 'cron(0 * * * ? *)', timeZone: 'Etc/UTC', enabled: true };

/** The first seal of an archive in which nothing was due and nothing lies. */
export const emptySeal: Seal = {
  version: 1,
  number: 1,
  archive: 'archive-bucket',
  seal: '2026-11-20T00:00:00.000Z',
  previous: null,
  passedOver: none,
  listedFrom: '2026-11-20T00:00:00.000Z',
  records: [],
  objects: [],
  stamps: [],
  unread: { behind: null, keys: [] },
  // An audit that is never due: no seal of it is absent.
  plan: { clusters: 2, schedule: hourly, auditSchedule: { ...hourly, enabled: false } },
  configurations: [],
  due: { runs: 0, absent: [], notJudged: null },
  verified: {
    objects: 0,
    old: 0,
    bytes: 0,
    carriedOver: 0,
    carriedOverRecords: 0,
    expired: 0,
    all: null,
    notReadSince: null,
  },
  found: {},
  open: { damage: 0, acknowledged: 0, unreadable: 0 },
  state: '0'.repeat(64),
  keyArn: 'arn:aws:kms:eu-central-1:123456789012:key/00000000-0000-4000-8000-000000000000',
  collectorVersion: '1.0.0',
};

export interface SignedSeal {
  /** Of the seal's line. */
  readonly sha256: string;
  readonly file: Buffer;
}

/**
 * Signs a seal as KMS does.
 * @param signedInstead SHA-256 of what is signed in place of the seal
 */
export function signSeal(seal: Seal, privateKey: KeyObject, signedInstead = ''): SignedSeal {
  const line = sealLine(seal);
  const sha256 = signedInstead || sha256Of(line);
  const file = sealFile(line, {
    sha256,
    algorithm: 'ECDSA_SHA_256',
    publicKey: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64'),
    signature: sign('sha256', Buffer.from(sha256), privateKey).toString('base64'),
  });
  return { sha256, file };
}
