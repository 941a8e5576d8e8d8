import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { parseObjectKey } from '../../lambda/archive/archive-layout';
import type { ObjectFacts } from '../../lambda/archive/object-metadata';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { parsePublicKey } from '../../lambda/verify/seals/seal-file';
import { type Vouched, Vouching } from '../../lambda/verify/vouching';
import { factsOf } from '../archive/cluster-objects';
import { formatTime } from '../terminal/format';
import { print, printProblem, type Terminal } from '../terminal/terminal';

export interface CheckOptions {
  readonly check?: boolean;
  readonly publicKey?: readonly KeyObject[];
}

export function withCheck(command: Command): Command {
  return withPublicKeys(command.option('--check', 'say which seal vouches for what is shown'));
}

export function withPublicKeys(command: Command): Command {
  return command.option('--public-key <file...>', 'the keys that may have signed the seals, as PEM', parsePublicKeys);
}

/** The keys of a PEM file, as `collector seals --public-key` writes it, behind those of the files before. */
function parsePublicKeys(file: string, before: readonly KeyObject[] = []): readonly KeyObject[] {
  const blocks = readText(file).match(/(?<=-----BEGIN PUBLIC KEY-----)[^-]*(?=-----END PUBLIC KEY-----)/g) ?? [];
  if (blocks.length === 0)
    throw new InvalidArgumentError(
      `expected a PEM file with a public key, as "collector seals --public-key" writes it.`,
    );
  return [...before, ...blocks.map(parseBlock)];
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    throw new InvalidArgumentError(`it cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

function parseBlock(base64: string): KeyObject {
  const key = parsePublicKey(base64);
  if (key === undefined) throw new InvalidArgumentError('expected public keys of the curve P-256, which sign seals.');
  return key;
}

/** Most names that one line has. */
const mostNamed = 20;

/** Notes which seals vouch for what a command shows. */
export class VouchedNotes {
  readonly #reader: ArchiveReader;
  readonly #options: CheckOptions;
  readonly #vouching: Vouching;
  /** By key. */
  readonly #noted = new Map<string, { readonly name: string; readonly vouched: Vouched }>();

  constructor(reader: ArchiveReader, options: CheckOptions) {
    this.#reader = reader;
    this.#options = options;
    this.#vouching = new Vouching(reader, options.publicKey);
  }

  /**
   * Undefined without --check. An object that was noted before is not read again.
   * @param facts left out: they are read
   * @throws ArchiveReadError
   */
  async ofObject({ key, facts }: { key: string; facts?: ObjectFacts | undefined }): Promise<Vouched | undefined> {
    const before = this.#noted.get(key);
    if (before !== undefined || this.#options.check !== true) return before?.vouched;
    const name = parseObjectKey(key);
    const known = facts ?? (await factsOf(this.#reader, { key }));
    const vouched: Vouched =
      name === undefined || known === undefined
        ? { seal: undefined, problem: 'its metadata is absent or malformed' }
        : await this.#vouching.ofObject({ ...name, key }, known.sha256);
    const said = name === undefined ? key : `${name.resource} of ${name.cluster}, run ${formatTime(name.run)}`;
    this.#noted.set(key, { name: said, vouched });
    return vouched;
  }

  /** Prints it on standard error. @returns whether all of it is vouched for */
  async print(terminal: Pick<Terminal, 'err' | 'errColors'>): Promise<boolean> {
    const { err } = terminal;
    const noted = [...this.#noted.values()];
    const seals = noted.flatMap(({ vouched }) => vouched.seal ?? []).sort((a, b) => a.number - b.number);
    const [first, last] = [seals[0], seals.at(-1)];
    const count = noted.length === 1 ? '' : ` ${seals.length} of ${noted.length}`;
    if (first !== undefined && last !== undefined) {
      const named = new Set([first, last].map(({ number, seal }) => `seal ${number} of ${formatTime(seal)}`));
      await print(err, `Vouched for${count} by ${[...named].join(' to ')}.\n`);
    }
    const problems = new Map<string, string[]>();
    for (const { name, vouched } of noted)
      if (vouched.seal === undefined) problems.set(vouched.problem, [...(problems.get(vouched.problem) ?? []), name]);
    for (const [problem, names] of problems) {
      const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
      await printProblem(terminal, 'Not vouched for:', `${names.slice(0, mostNamed).join('; ')}${more}: ${problem}.`);
    }
    if (first !== undefined && this.#options.publicKey === undefined)
      await print(err, "Seals were checked with the archive's own key; --public-key takes one that you kept.\n");
    return seals.length === noted.length;
  }
}
