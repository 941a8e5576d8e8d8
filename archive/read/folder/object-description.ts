import { isUtf8 } from 'node:buffer';
import { underWayMs } from '../../format/clocks';
import { metadataFolder } from '../../format/folder-layout';
import { parseObjectKey } from '../../format/keys';
import { readTime } from '../../format/object-metadata';
import { type FilePath, IrregularFileError, readRegular, statRegular } from './regular-file';

type TextByName = Readonly<Record<string, string>>;

/** What is known of an object beside its bytes, as it lies in its JSON file. */
interface Description {
  /** Lower-case hex, without quotes. */
  readonly etag: string;
  /** ISO 8601 in UTC with milliseconds. */
  readonly lastModified: string;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  /** By name without `x-amz-meta-`, lower case. */
  readonly userMetadata: TextByName;
  /** Base64 by algorithm: `crc32`. */
  readonly checksums: TextByName;
}

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
  /** Whether nothing is known of it but its bytes, as in a copy that was made without the metadata. */
  readonly isBare?: true;
}

/** Longest description that is read, in bytes; those that are written here have a tenth of it at most. */
const longestDescription = 65_536;

/**
 * What is known of the bytes at a path; undefined: nothing lies there. Bytes without a description, such as those of a
 * copy of the folder without its metadata, are described by what the file system says.
 * @param data place of the bytes; the path is the key
 */
export function readMetadata(data: FilePath): ObjectMetadata | undefined {
  const { path: key } = data;
  const file = unlessAbsent(() => statOf(data));
  if (file === undefined) return undefined;
  if ('damage' in file) return irregularMetadata(key, file.damage);
  const found = unlessAbsent(() => readDescription(data));
  if (found === undefined) {
    const bare = undescribed(key, file.size, Math.round(file.mtimeMs));
    return { ...bare, lastModified: writtenBy(key, bare.lastModified), isBare: true };
  }
  if ('damage' in found) return undescribed(key, file.size, Math.round(file.mtimeMs), found);
  return { key, size: file.size, ...found };
}

/** Path of the JSON file about an object, beneath the folder. */
export function descriptionPath(key: string): string {
  return `${metadataFolder}/${key}.json`;
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

/**
 * Until when a file without a description was written, if it is an object of a run: a copy has the time of the copying unless
 * somebody kept the other, and no object of an old run is under way because its folder was copied.
 * @param modified by the file system
 */
function writtenBy(key: string, modified: string): string {
  const run = parseObjectKey(key)?.run;
  const latest = run && new Date(run.getTime() + underWayMs).toISOString();
  return latest !== undefined && latest < modified ? latest : modified;
}

/** A folder is not an object, and so absent. */
function statOf(data: FilePath) {
  try {
    return statRegular(data);
  } catch (error) {
    if (!(error instanceof IrregularFileError)) throw error;
    return error.isFolder ? undefined : { damage: error.message };
  }
}

/** The bytes of this folder are as untrusted as any others: a description that was cut or replaced is damage. */
function readDescription({ folder, path }: FilePath): Description | { readonly damage: string } {
  try {
    const text = readRegular({ folder, path: descriptionPath(path) }, longestDescription);
    if (!isUtf8(text)) return damaged('it is not UTF-8');
    return asDescription(JSON.parse(text.toString())) ?? damaged('it is not a description of an object');
  } catch (error) {
    if (error instanceof IrregularFileError) return damaged(error.message);
    if (error instanceof SyntaxError) return damaged('it is not JSON');
    throw error;
  }
}

/** By hand: a schema takes as long as reading the file. Undefined if it is something else. */
function asDescription(json: unknown): Description | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { etag, lastModified, contentType, contentEncoding, userMetadata, checksums } = json as Partial<Description>;
  const isText = (value: unknown) => value === undefined || typeof value === 'string';
  if (typeof etag !== 'string' || typeof lastModified !== 'string' || readTime(lastModified) === undefined)
    return undefined;
  if (!isText(contentType) || !isText(contentEncoding)) return undefined;
  if (!isTextByName(userMetadata) || !isTextByName(checksums)) return undefined;
  return {
    ...{ etag, lastModified, userMetadata, checksums },
    ...(contentType !== undefined && { contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
  };
}

function isTextByName(value: unknown): value is TextByName {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const name in value) if (typeof (value as Record<string, unknown>)[name] !== 'string') return false;
  return true;
}

function damaged(reason: string): { readonly damage: string } {
  return { damage: `its metadata file in ${metadataFolder}/ cannot be used: ${reason}` };
}

/** @returns undefined if the file is absent */
export function unlessAbsent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    // ENOTDIR: a file lies where the path has a folder, so nothing is there.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
