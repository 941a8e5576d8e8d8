import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { sealKeyOf } from '../../lambda/verify/seals/seal-file';

/** More is no file of public keys. */
const largestBytes = 64 * 1024;

/**
 * Reads the public keys of a PEM file, as `collector seals --public-key` writes it, behind those of the files before.
 * @throws InvalidArgumentError if the file cannot be read, or has no public keys that sign seals
 */
export function parsePublicKeys(file: string, before: readonly KeyObject[] = []): readonly KeyObject[] {
  const blocks = readText(file).match(/-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----/g) ?? [];
  if (blocks.length === 0)
    throw new InvalidArgumentError(
      `expected a PEM file with a public key, as "collector seals --public-key" writes it.`,
    );
  return [...before, ...blocks.map(parseBlock)];
}

function readText(file: string): string {
  try {
    return readFileSync(file).subarray(0, largestBytes).toString('latin1');
  } catch (error) {
    throw new InvalidArgumentError(`it cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

function parseBlock(pem: string): KeyObject {
  const key = sealKeyOf(pem);
  if (key === undefined) throw new InvalidArgumentError('expected public keys of the curve P-256, which sign seals.');
  return key;
}

/** A SHA-256 as mails and `sha256sum` write it, behind those before. @throws InvalidArgumentError */
export function parseHashes(text: string, before: readonly string[] = []): readonly string[] {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new InvalidArgumentError('expected a SHA-256: 64 hexadecimal digits.');
  return [...before, text.toLowerCase()];
}
