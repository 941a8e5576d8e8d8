import { createHash } from 'node:crypto';
import { Crc32, Crc32c, Crc64Nvme } from '@aws-sdk/checksums/crc';

export const checksumAlgorithms = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'] as const;

export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

const digestBytes = { crc32: 4, crc32c: 4, crc64nvme: 8, sha1: 20, sha256: 32 } as const;

export const checksumHeaderPrefix = 'x-amz-checksum-';

/** A checksum while its bytes arrive. */
export interface RunningChecksum {
  update(chunk: Uint8Array): void;
  /** Base64; ends the checksum. */
  digest(): Promise<string>;
}

export function startChecksum(algorithm: ChecksumAlgorithm): RunningChecksum {
  switch (algorithm) {
    case 'crc32':
      return ofSdk(new Crc32());
    case 'crc32c':
      return ofSdk(new Crc32c());
    case 'crc64nvme':
      return ofSdk(new Crc64Nvme());
    default: {
      const hash = createHash(algorithm);
      return { update: (chunk) => void hash.update(chunk), digest: () => Promise.resolve(hash.digest('base64')) };
    }
  }
}

/** The algorithm that a header or trailer is of; undefined if it is none of a checksum. */
export function checksumOfHeader(name: string): ChecksumAlgorithm | undefined {
  return checksumAlgorithms.find((algorithm) => name === checksumHeaderPrefix + algorithm);
}

/** Whether a text can be a checksum: canonical base64 of the right length. */
export function isChecksum(algorithm: ChecksumAlgorithm, value: string): boolean {
  const bytes = Buffer.from(value, 'base64');
  return bytes.length === digestBytes[algorithm] && bytes.toString('base64') === value;
}

function ofSdk(checksum: { update(data: Uint8Array): void; digest(): Promise<Uint8Array> }): RunningChecksum {
  return {
    update: (chunk) => checksum.update(chunk),
    digest: async () => Buffer.from(await checksum.digest()).toString('base64'),
  };
}
