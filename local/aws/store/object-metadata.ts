import { closeSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { metadataFolder } from './key-path';
import { type FilePath, IrregularFileError, openRegular, statRegular } from './regular-file';

const textByName = z.record(z.string(), z.string());

const descriptionSchema = z.object({
  /** Lower-case hex, without quotes. */
  etag: z.string(),
  /** ISO 8601 in UTC with milliseconds. */
  lastModified: z.iso.datetime({ precision: 3 }),
  contentType: z.string().optional(),
  contentEncoding: z.string().optional(),
  /** By name without `x-amz-meta-`, lower case. */
  userMetadata: textByName,
  /** Base64 by algorithm: `crc32`. */
  checksums: textByName,
});

type Description = z.output<typeof descriptionSchema>;

/** What a writer says of an object beside its bytes. */
export type ObjectHeaders = Partial<Omit<Description, 'etag' | 'lastModified'>>;

export interface ObjectMetadata extends Description {
  readonly key: string;
  /** Bytes that lie in the folder. */
  readonly size: number;
  /**
   * Why the description beside the bytes cannot be used, or the bytes cannot be read; the other members then say only what
   * the file system knows.
   */
  readonly damage?: string;
}

/** Longest description that is read, in bytes; those that are written here have a tenth of it at most. */
const longestDescription = 65_536;

/**
 * What is known of the bytes at a path; undefined if there are none. Bytes without a description, such as those of a
 * copy of the folder without its metadata, are described by what the file system says.
 * @param data place of the bytes
 */
export async function readMetadata(key: string, data: FilePath): Promise<ObjectMetadata | undefined> {
  const file = await unlessAbsent(statOf(data));
  if (file === undefined) return undefined;
  if ('damage' in file) return irregularMetadata(key, file.damage);
  const found = await unlessAbsent(readDescription(data));
  if (found === undefined || 'damage' in found) return undescribed(key, file.size, Math.round(file.mtimeMs), found);
  return { key, size: file.size, ...found };
}

/** Path of the JSON file about the bytes at a path, both beneath the folder. */
export function descriptionPath(path: string): string {
  return `${metadataFolder}/${path}.json`;
}

/** What is said of something that is there and is not opened. */
export function irregularMetadata(key: string, damage: string): ObjectMetadata {
  return undescribed(key, 0, 0, { damage });
}

/** What the file system alone says. The entity tag changes with the bytes as far as can be told without reading them. */
function undescribed(key: string, size: number, modified: number, damage: Pick<ObjectMetadata, 'damage'> = {}) {
  const etag = `${size.toString(16)}-${modified.toString(16)}`;
  const lastModified = new Date(modified).toISOString();
  return { key, size, etag, lastModified, userMetadata: {}, checksums: {}, ...damage };
}

/** A folder is no object, and absent. */
async function statOf(data: FilePath) {
  try {
    return statRegular(data);
  } catch (error) {
    if (!(error instanceof IrregularFileError)) throw error;
    return error.isFolder ? undefined : { damage: error.message };
  }
}

/** The bytes of this folder are as untrusted as any others: a description that was cut or replaced is damage. */
async function readDescription({ folder, path }: FilePath): Promise<Description | { readonly damage: string }> {
  let file: number | undefined;
  try {
    const opened = openRegular({ folder, path: descriptionPath(path) });
    file = opened.file;
    const { size } = opened.stats;
    if (size > longestDescription) return damaged(`it has ${size} bytes`);
    const parsed = descriptionSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    return parsed.success ? parsed.data : damaged('it is not a description of an object');
  } catch (error) {
    if (error instanceof IrregularFileError) return damaged(error.message);
    if (error instanceof SyntaxError) return damaged('it is not JSON');
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function damaged(reason: string): { readonly damage: string } {
  return { damage: `its metadata file in ${metadataFolder}/ cannot be used: ${reason}` };
}

/** @returns undefined if there is no such file */
export async function unlessAbsent<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    // ENOTDIR: a file lies where the path has a folder, so nothing is there.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
