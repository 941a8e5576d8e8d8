import type { KeyObject } from 'node:crypto';
import { copyFile, mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { incomingFolder } from '../../archive/format/folder-layout';
import { configurationKey, parseRunRecordKey, sealKey, sealStateKey } from '../../archive/format/keys';
import { resourceNames } from '../../archive/format/resources';
import { parsePublicKey } from '../../archive/format/seal-file';
import {
  type Part,
  partKeyFile,
  partPageFile,
  partReaderFile,
  type RightSeal,
  readChain,
  type SealChain,
} from '../../archive/prove';
import {
  ArchiveReadError,
  type ArchiveReader,
  clusterObjects,
  damageOf,
  firstOf,
  readStoredRun,
  runsBetween,
} from '../../archive/read';
import { FolderStore } from '../../local/aws/store/folder-store';

/** What was copied. */
export interface CopiedPart {
  readonly runs: number;
  readonly records: number;
  readonly seals: number;
  /** The first and the last seal that have its run records. */
  readonly vouchedBy: readonly Pick<RightSeal, 'number' | 'seal'>[];
  /** Keys of the cluster's objects. */
  readonly objects: readonly string[];
  /** Those that are damaged, so that nobody can read what they have. */
  readonly notCopied: readonly { readonly key: string; readonly problem: string }[];
  /** How many other clusters the run records name. */
  readonly others: number;
  /** The runs whose records no seal has yet, all or some: these, and what only they name, are not copied. */
  readonly unsealed: { readonly runs: number; readonly since: Date | undefined };
}

/**
 * Copies a part of an archive into a new folder, byte for byte. Every key that it writes is one that the archive's layout
 * has: whatever else lies in the archive is left there. Of a sealed archive the part ends at what the newest seal has.
 * @param publicKeys that may have signed; left out: the archive's own key is believed
 * @param nearest what is said behind it of a cluster that the archive does not have
 * @throws Error if the folder lies in the archive, cannot be made or is not empty, or the cluster has no object in the period
 * @throws ArchiveReadError
 */
export async function copyPart(
  reader: ArchiveReader,
  part: Part,
  folder: string,
  publicKeys?: readonly KeyObject[],
  nearest = async (): Promise<string> => '',
): Promise<CopiedPart> {
  const found = resourceNames.map((resource) => firstOf(clusterObjects(reader, resource, part.cluster, part)));
  if ((await Promise.all(found)).every((object) => object === undefined))
    throw new Error(
      `Exporting the cluster ${part.cluster} failed: nothing of it was archived in this period; list shows what there is${await nearest()}`,
    );
  const within = relative(await realPathOf(reader.location), await realPathOf(folder));
  if (!isAbsolute(within) && within.split(sep)[0] !== '..') throw failedTo(folder, 'it lies in the archive');
  await makeEmpty(folder);
  const store = new FolderStore(folder);
  const configurations = new Set<string>();
  const clusters = new Set<string>();
  const objects: string[] = [];
  const notCopied: { key: string; problem: string }[] = [];
  const counts = { runs: 0, records: 0 };
  const by = new Map<number, RightSeal>();
  const unsealed: { runs: number; since: Date | undefined } = { runs: 0, since: undefined };
  // What is sealed after this is for the next part: seals that have more than the part would make it incomplete.
  const chain = await readChain(reader, { publicKeys }, () => undefined);
  const leftOut = new LeftOut(chain);
  for await (const { run, records } of runsBetween(reader, part)) {
    const sealed = records.filter(({ key }) => leftOut.isSealed(key));
    if (sealed.length < records.length) {
      unsealed.runs += 1;
      unsealed.since ??= run;
      const others = records.filter((record) => !sealed.includes(record));
      for (const { cluster, key } of (await readStoredRun(reader, { run, records: others })).outcomes)
        if (cluster === part.cluster && key !== undefined) leftOut.keys.add(key);
    }
    if (sealed.length === 0) continue;
    counts.runs += 1;
    for (const { key } of sealed) {
      counts.records += Number(await copy(reader, store, key));
      const seal = chain.records.get(key)?.by;
      if (seal !== undefined) by.set(seal.number, seal);
    }
    const { starts, outcomes } = await readStoredRun(reader, { run, records: sealed });
    for (const { configuration } of starts) configurations.add(configuration);
    for (const { cluster, key } of outcomes)
      if (cluster !== part.cluster) clusters.add(cluster);
      else if (key !== undefined) leftOut.keys.delete(key);
  }
  for (const sha256 of configurations) await copy(reader, store, configurationKey(sha256));
  for (const resource of resourceNames)
    for await (const { key, run } of clusterObjects(reader, resource, part.cluster, part)) {
      if (leftOut.has(key, run)) continue;
      try {
        if (await copy(reader, store, key)) objects.push(key);
      } catch (error) {
        const problem = damageOf(error);
        if (problem === undefined) throw error;
        notCopied.push({ key, problem });
      }
    }
  const seals = await copySeals(reader, store, folder, chain);
  await rm(join(folder, incomingFolder), { recursive: true, force: true });
  await copyFile(join(__dirname, '../../docs/proof.md'), join(folder, partPageFile));
  await copyFile(join(__dirname, partReaderFile), join(folder, partReaderFile));
  const inOrder = [...by.values()].sort((one, other) => one.number - other.number);
  const vouchedBy = [...inOrder.slice(0, 1), ...inOrder.slice(-1)].map(({ number, seal }) => ({ number, seal }));
  return { ...counts, seals, vouchedBy, objects, notCopied, others: clusters.size, unsealed };
}

/** What a part does not have, because no seal vouches for it yet. Of an archive without a right seal it is nothing. */
class LeftOut {
  /** Objects that only unsealed run records name. */
  readonly keys = new Set<string>();
  readonly #chain: SealChain;
  /** The newest run that has a sealed record. */
  readonly #newest: number;

  constructor(chain: SealChain) {
    this.#chain = chain;
    let newest = chain.head === undefined ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    for (const key of chain.records.keys()) newest = Math.max(newest, parseRunRecordKey(key)?.run.getTime() ?? newest);
    this.#newest = newest;
  }

  /** @param record its key */
  isSealed(record: string): boolean {
    return this.#chain.head === undefined || this.#chain.records.has(record);
  }

  /** Of a later run than the newest sealed one it has nothing: that run may still be under way, without a record. */
  has(key: string, run: Date): boolean {
    return (this.keys.has(key) || run.getTime() > this.#newest) && !this.#chain.objects.has(key);
  }
}

/** Where a path leads, through symbolic links; as far as it is there. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(resolve(path));
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === resolve(path)) throw error;
    return join(await realPathOf(parent), basename(path));
  }
}

function failedTo(folder: string, why: string, options?: ErrorOptions): Error {
  return new Error(`Writing the export to ${folder} failed: ${why}; name a new folder`, options);
}

async function makeEmpty(folder: string): Promise<void> {
  let names: readonly string[];
  try {
    await mkdir(folder, { recursive: true });
    names = await readdir(folder);
  } catch (error) {
    throw failedTo(folder, (error as Error).message, { cause: error });
  }
  if (names.length > 0) throw failedTo(folder, 'it is not empty');
}

/** Copies all seals and their stamps, the state of the newest, and the key that signed the first of them. */
async function copySeals(reader: ArchiveReader, store: FolderStore, folder: string, chain: SealChain): Promise<number> {
  const { all, passedOver, stamps, head, signed } = chain;
  const numbers = [...all.map(({ number }) => number), ...passedOver.keys()];
  for (const key of [...stamps.keys(), ...numbers.map(sealKey)]) await copy(reader, store, key);
  if (head !== undefined) await copy(reader, store, sealStateKey(head.state));
  const pem = parsePublicKey(signed[0]?.publicKey ?? '')?.export({ format: 'pem', type: 'spki' });
  if (pem !== undefined) await writeFile(join(folder, partKeyFile), pem);
  return numbers.length;
}

/** @returns whether it was there */
async function copy(reader: ArchiveReader, store: FolderStore, key: string): Promise<boolean> {
  try {
    const opened = await reader.open(key);
    if (opened === undefined) return false;
    const { body, contentType, contentEncoding, metadata, isBare } = opened;
    const userMetadata = Object.fromEntries(
      Object.entries(metadata).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const headers = { ...(contentType && { contentType }), ...(contentEncoding && { contentEncoding }), userMetadata };
    const known = isBare === true ? undefined : headers;
    await store.put(key, body as Readable & AsyncIterable<Buffer>, known, { ifNoneMatch: true });
    return true;
  } catch (error) {
    if (error instanceof ArchiveReadError || damageOf(error) !== undefined) throw error;
    throw new ArchiveReadError(`Copying ${key} failed: ${(error as Error).message}`, { cause: error });
  }
}
