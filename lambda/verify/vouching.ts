import type { KeyObject } from 'node:crypto';
import { type ObjectName, runPrefix } from '../archive/archive-layout';
import type { ArchiveReader } from './archive-reader';
import { firstOf } from './newest-first';
import { readStoredRun, type StoredRun } from './read-run';
import { runsBetween } from './run-keys';
import { readChain } from './seals/read-chain';
import type { RightSeal, SealChain, Sealed } from './seals/seal-chain';

/** What a seal is named by. */
type NamedSeal = Pick<RightSeal, 'number' | 'seal' | 'sha256'>;

/** The seal that vouches for something, or why none does. */
export type Vouched =
  | {
      readonly seal: NamedSeal;
      /** The run record in between; undefined: the seal itself has the hash. */
      readonly record: string | undefined;
    }
  | { readonly seal: undefined; readonly problem: string };

/** What seals say of a key. */
interface SealedHash {
  readonly seal: NamedSeal;
  readonly sha256: string;
}

/** Says which seal vouches for what is in an archive: it has the hash of a run record, and that record the hash of an object. */
export class Vouching {
  readonly #reader: ArchiveReader;
  readonly #publicKeys: readonly KeyObject[] | undefined;
  #chain: SealChain | undefined;
  /** Whoever asks for one object of a run mostly asks for the next. */
  #last: { readonly time: number; readonly run: StoredRun | undefined } | undefined;

  /** @param publicKeys that may have signed; left out: the key that signed the first seal */
  constructor(reader: ArchiveReader, publicKeys?: readonly KeyObject[]) {
    this.#reader = reader;
    this.#publicKeys = publicKeys;
  }

  /**
   * @param sha256 of the object's content
   * @throws ArchiveReadError
   */
  async ofObject(object: ObjectName & { readonly key: string }, sha256: string): Promise<Vouched> {
    const run = await this.#readRun(object.run);
    this.#chain ??= await readChain(this.#reader, { publicKeys: this.#publicKeys }, () => undefined);
    const hashes = hashesOf(this.#chain, object.run, object.key);
    const own = hashes.get(object.key);
    if (own?.sha256 === sha256) return { seal: own.seal, record: undefined };
    let problem: string | undefined;
    for (const { key, record, file } of run?.read ?? [])
      for (const { cluster, resource, sha256: recorded } of record?.outcomes ?? []) {
        if (cluster !== object.cluster || resource !== object.resource || recorded === undefined) continue;
        const sealed = hashes.get(key);
        if (sealed === undefined) problem ??= 'no seal has its run record; the next audit seals what is new';
        else if (file?.sha256 !== sealed.sha256)
          problem ??= `its run record ${key} is not what seal ${sealed.seal.number} has: it was replaced`;
        else if (recorded === sha256) return { seal: sealed.seal, record: key };
        else problem ??= `${key} has another SHA-256 of it`;
      }
    problem ??= own && `seal ${own.seal.number} has another SHA-256 of it`;
    problem ??= goneRecord(run, hashes) ?? 'no run record has its SHA-256';
    return { seal: undefined, problem: explained(this.#chain, problem) };
  }

  async #readRun(time: Date): Promise<StoredRun | undefined> {
    if (this.#last?.time === time.getTime()) return this.#last.run;
    const listed = await firstOf(runsBetween(this.#reader, { from: time, to: time }));
    const run = listed && (await readStoredRun(this.#reader, listed));
    this.#last = { time: time.getTime(), run };
    return run;
  }
}

/** What seals say of a run's records and of an object. */
function hashesOf({ records, objects }: SealChain, run: Date, object: string): ReadonlyMap<string, SealedHash> {
  const prefix = runPrefix(run);
  const hashes = new Map<string, SealedHash>();
  const take = ({ key, sha256, by: { number, seal, sha256: named } }: Sealed) =>
    hashes.set(key, { seal: { number, seal, sha256: named }, sha256 });
  for (const [key, sealed] of records) if (key.startsWith(prefix)) take(sealed);
  const own = objects.get(object);
  if (own !== undefined) take(own);
  return hashes;
}

function explained({ files, all }: SealChain, problem: string): string {
  if (files === 0) return 'the archive is not sealed';
  return all.length === 0 ? 'no seal is signed with a key that is trusted' : problem;
}

/** Says which run record of a run is sealed and not there. */
function goneRecord(run: StoredRun | undefined, hashes: ReadonlyMap<string, SealedHash>): string | undefined {
  const gone = [...hashes].find(([key]) => key.endsWith('.jsonl') && run?.records.includes(key) !== true);
  return gone && `its run record ${gone[0]}, which seal ${gone[1].seal.number} has, is not there`;
}
