import { X509Certificate } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { parseSealStampKey } from '../../lambda/archive/archive-layout';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import type { Find } from '../../lambda/verify/finding';
import type { SealChain } from '../../lambda/verify/seals/seal-chain';
import { readStamps, type SealStamp } from '../../lambda/verify/seals/seal-stamps';
import { printable } from '../terminal/printable';
import type { Terminal } from '../terminal/terminal';
import { timeOption } from './options';
import { readPem } from './public-keys';

/** One line: what a stamp shows. */
export function describeStamp({ number, time, authority, root }: SealStamp): string {
  return `Seal ${number} and all before it existed before ${time}, says ${authority} (root ${printable(root)}).`;
}

/** Of each authority its newest stamp, if that counts: only this one is read. */
export function newestStamps(reader: ArchiveReader, chain: SealChain, find: Find): Promise<SealStamp[]> {
  const newest = new Map(chain.stamps.map((key) => [parseSealStampKey(key)?.authority, key]));
  return readStamps(reader, chain, undefined, find, [...newest.values()]);
}

export interface StampRootOptions {
  readonly tsaCa?: readonly X509Certificate[];
  readonly stampedSince?: Date;
}

/** Adds whom to believe about times. */
export function withStampRoots(command: Command, { now }: Pick<Terminal, 'now'>): Command {
  const since = 'with --tsa-ca: only seals from this time on have to be stamped';
  return command
    .option('--tsa-ca <file...>', 'roots, as PEM, of the authorities that have to have stamped the seals', parseRoots)
    .addOption(timeOption('--stamped-since <time>', since, 'start', now));
}

function parseRoots(file: string, before: readonly X509Certificate[] = []): readonly X509Certificate[] {
  const blocks = readPem(file, 'CERTIFICATE');
  try {
    if (blocks.length > 0)
      return [...before, ...blocks.map((block) => new X509Certificate(Buffer.from(block, 'base64')))];
  } catch {
    // OpenSSL has no error class: whatever it says, the block is not a certificate.
  }
  throw new InvalidArgumentError('expected a PEM file with certificates.');
}
