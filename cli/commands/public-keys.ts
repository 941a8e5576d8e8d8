import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { parsePublicKey } from '../../lambda/verify/seals/seal-file';

export interface PublicKeyOptions {
  readonly publicKey?: readonly KeyObject[];
}

export function withPublicKeys(command: Command): Command {
  return command.option('--public-key <file...>', 'the keys that may have signed the seals, as PEM', parsePublicKeys);
}

/** The keys of a PEM file, as `collector seals --public-key` writes it, behind those of the files before. */
function parsePublicKeys(file: string, before: readonly KeyObject[] = []): readonly KeyObject[] {
  const blocks = readPem(file, 'PUBLIC KEY');
  if (blocks.length === 0)
    throw new InvalidArgumentError(
      `expected a PEM file with a public key, as "collector seals --public-key" writes it.`,
    );
  return [...before, ...blocks.map(parseBlock)];
}

/** The base64 texts of a PEM file. @throws InvalidArgumentError if the file cannot be read */
export function readPem(file: string, what: 'PUBLIC KEY' | 'CERTIFICATE'): string[] {
  try {
    const text = readFileSync(file, 'latin1');
    return text.match(new RegExp(`(?<=-----BEGIN ${what}-----)[^-]*(?=-----END ${what}-----)`, 'g')) ?? [];
  } catch (error) {
    throw new InvalidArgumentError(`it cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

function parseBlock(base64: string): KeyObject {
  const key = parsePublicKey(base64);
  if (key === undefined) throw new InvalidArgumentError('expected public keys of the curve P-256, which sign seals.');
  return key;
}
