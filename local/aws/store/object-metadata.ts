import { readFile, stat } from 'node:fs/promises';

/** What an object carries beside its bytes, given by its writer. */
export interface ObjectHeaders {
  readonly contentType?: string;
  readonly contentEncoding?: string;
  /** By name without `x-amz-meta-`, lower case. */
  readonly userMetadata?: Readonly<Record<string, string>>;
  /** Base64 by algorithm: `crc32`, `crc32c`, `crc64nvme`, `sha1`, `sha256`. */
  readonly checksums?: Readonly<Record<string, string>>;
  /** Further headers to answer a GET with, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ObjectMetadata extends ObjectHeaders {
  readonly key: string;
  /** Bytes that lie in the folder. */
  readonly size: number;
  /** Lower-case hex, without quotes. */
  readonly etag: string;
  /** ISO 8601 in UTC with milliseconds. */
  readonly lastModified: string;
  readonly userMetadata: Readonly<Record<string, string>>;
  readonly checksums: Readonly<Record<string, string>>;
}

interface DescribedObject extends ObjectMetadata {
  /** What described the bytes before these, for as long as those may still be there. */
  readonly previous?: ObjectMetadata;
}

/**
 * What is known of the bytes at a path; undefined if there are none. Bytes that nobody described, such as those of a
 * copy of the folder without its metadata, are described by what the file system says.
 */
export async function readMetadata(key: string, data: string, metadata: string): Promise<ObjectMetadata | undefined> {
  const file = await unlessAbsent(stat(data));
  if (file === undefined || !file.isFile()) return undefined;
  const { size } = file;
  const lastModified = new Date(Math.round(file.mtimeMs)).toISOString();
  const text = await unlessAbsent(readFile(metadata, 'utf8'));
  if (text === undefined)
    return { key, size, etag: undescribedTag(size, lastModified), lastModified, userMetadata: {}, checksums: {} };
  const { previous, ...current } = JSON.parse(text) as DescribedObject;
  const isOfBefore = previous?.lastModified === lastModified && current.lastModified !== lastModified;
  // Where the bytes lie decides what they are called: whoever copies an object with its description copies the old key.
  return { ...(isOfBefore ? previous : current), key, size };
}

/** An entity tag that changes with the bytes as far as can be told without reading them. */
function undescribedTag(size: number, lastModified: string): string {
  return `${size.toString(16)}-${Date.parse(lastModified).toString(16)}`;
}

async function unlessAbsent<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    // ENOTDIR: the way there leads through a file, so that there is nothing either.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
