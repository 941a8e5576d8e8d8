import { mkdir, readdir, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { configurationKey, sealKey, sealStateKey } from '../../lambda/archive/archive-layout';
import { resourceNames } from '../../lambda/resources';
import { ArchiveReadError, type ArchiveReader } from '../../lambda/verify/archive-reader';
import { firstOf } from '../../lambda/verify/newest-first';
import { clusterObjects } from '../../lambda/verify/objects-between';
import { damageOf } from '../../lambda/verify/open-content';
import { type Part, partFile, partKeyFile, partPageFile, partText } from '../../lambda/verify/part';
import { readStoredRun } from '../../lambda/verify/read-run';
import { runsBetween } from '../../lambda/verify/run-keys';
import { readHead } from '../../lambda/verify/seals/read-chain';
import { listSeals, parsePublicKey, readSealFile } from '../../lambda/verify/seals/seal-file';
import { FolderStore } from '../../local/aws/store/folder-store';
import { checkPage } from './check-page';

/** The part cannot be written where it should be. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}

/** What was copied. */
export interface CopiedPart {
  readonly runs: number;
  readonly records: number;
  readonly seals: number;
  /** Keys of the cluster's objects. */
  readonly objects: readonly string[];
  /** Those that are damaged, so that nobody can read what they have. */
  readonly notCopied: readonly { readonly key: string; readonly problem: string }[];
  /** How many other clusters the run records name. */
  readonly others: number;
}

/**
 * Copies a part of an archive into a new folder, byte for byte. Every key that it writes is one that the archive's layout
 * has: whatever else lies in the archive is left there.
 * @throws ExportError if the folder lies in the archive, cannot be made or is not empty, or the cluster has no object in the period
 * @throws ArchiveReadError
 */
export async function copyPart(reader: ArchiveReader, part: Part, folder: string): Promise<CopiedPart> {
  const found = resourceNames.map((resource) => firstOf(clusterObjects(reader, resource, part.cluster, part)));
  if ((await Promise.all(found)).every((object) => object === undefined))
    throw new ExportError(
      `Exporting the cluster ${part.cluster} failed: nothing of it was archived in this period; list shows what there is`,
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
  for await (const listed of runsBetween(reader, part)) {
    counts.runs += 1;
    for (const { key } of listed.records) counts.records += Number(await copy(reader, store, key));
    const { starts, outcomes } = await readStoredRun(reader, listed);
    for (const { configuration } of starts) configurations.add(configuration);
    for (const { cluster } of outcomes) if (cluster !== part.cluster) clusters.add(cluster);
  }
  for (const sha256 of configurations) await copy(reader, store, configurationKey(sha256));
  for (const resource of resourceNames)
    for await (const { key } of clusterObjects(reader, resource, part.cluster, part))
      try {
        if (await copy(reader, store, key)) objects.push(key);
      } catch (error) {
        const problem = damageOf(error);
        if (problem === undefined) throw error;
        notCopied.push({ key, problem });
      }
  const seals = await copySeals(reader, store, folder);
  await writeFile(join(folder, partFile), partText(part));
  await writeFile(join(folder, partPageFile), checkPage(part));
  return { ...counts, seals, objects, notCopied, others: clusters.size };
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

function failedTo(folder: string, why: string, options?: ErrorOptions): ExportError {
  return new ExportError(`Writing the export to ${folder} failed: ${why}; name a new folder`, options);
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
async function copySeals(reader: ArchiveReader, store: FolderStore, folder: string): Promise<number> {
  let publicKey: string | undefined;
  const { numbers, stamps } = await listSeals(reader, () => undefined);
  for (const key of stamps) await copy(reader, store, key);
  for (const number of numbers) {
    await copy(reader, store, sealKey(number));
    publicKey ??= (await readSealFile(reader, number)).signed?.publicKey;
  }
  const { head } = await readHead(reader, {}, () => undefined);
  if (head !== undefined) await copy(reader, store, sealStateKey(head.state));
  const pem = parsePublicKey(publicKey ?? '')?.export({ format: 'pem', type: 'spki' });
  if (pem !== undefined) await writeFile(join(folder, partKeyFile), pem);
  return numbers.length;
}

/** @returns whether it was there */
async function copy(reader: ArchiveReader, store: FolderStore, key: string): Promise<boolean> {
  try {
    const opened = await reader.open(key);
    if (opened === undefined) return false;
    const { body, contentType, contentEncoding, metadata } = opened;
    const userMetadata = Object.fromEntries(
      Object.entries(metadata).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const headers = { ...(contentType && { contentType }), ...(contentEncoding && { contentEncoding }), userMetadata };
    await store.put(key, body as Readable & AsyncIterable<Buffer>, headers, { ifNoneMatch: true });
    return true;
  } catch (error) {
    if (error instanceof ArchiveReadError || damageOf(error) !== undefined) throw error;
    throw new ArchiveReadError(`Copying ${key} failed: ${(error as Error).message}`, { cause: error });
  }
}
