import { type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parsePublicKey } from '../../archive/format/seal-file';
import type { Terminal } from '../terminal/terminal';
import { timeOption } from './options';

export interface PublicKeyOptions {
  readonly publicKey?: readonly KeyObject[];
}

/** Adds whom to believe about seals. */
export function withPublicKeys(command: Command): Command {
  const keys = 'the keys that may have signed the seals, as PEM';
  const expected = 'public keys of the curve P-256, as "verify --print-keys" writes them';
  return command.addOption(pemOption('--public-key <file...>', keys, 'PUBLIC KEY', parsePublicKey, expected));
}

export interface StampRootOptions {
  readonly tsaCa?: readonly X509Certificate[];
  readonly stampedSince?: Date;
}

/** Adds whom to believe about times. */
export function withStampRoots(command: Command, { now }: Pick<Terminal, 'now'>): Command {
  const roots = 'roots, as PEM, of the authorities that have to have stamped the seals';
  const since = 'with --tsa-ca: only seals from this time on have to be stamped';
  return command
    .addOption(pemOption('--tsa-ca <file...>', roots, 'CERTIFICATE', parseCertificate, 'certificates'))
    .addOption(timeOption('--stamped-since <time>', since, 'start', now));
}

/**
 * An option for PEM files. Its value has what all of them hold.
 * @param parse takes the base64 of a block; undefined: it is something else than what is expected
 */
function pemOption<Trusted>(
  flags: string,
  description: string,
  label: string,
  parse: (base64: string) => Trusted | undefined,
  expected: string,
): Option {
  const block = new RegExp(`(?<=-----BEGIN ${label}-----)[^-]*(?=-----END ${label}-----)`, 'g');
  return new Option(flags, description).argParser((file: string, before: readonly Trusted[] = []) => {
    const found = (readFile(file).match(block) ?? []).map(parse);
    const trusted = found.filter((one) => one !== undefined);
    if (found.length > 0 && trusted.length === found.length) return [...before, ...trusted];
    throw new InvalidArgumentError(`expected a PEM file with ${expected}.`);
  });
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    throw new InvalidArgumentError(`it cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

function parseCertificate(base64: string): X509Certificate | undefined {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    // OpenSSL has no error class: whatever it says, the block is not a certificate.
    return undefined;
  }
}
