import { open, stat } from 'node:fs/promises';
import * as z from 'zod';
import { metadataFolder } from './key-path';

/** What a writer says of an object beside its bytes. */
export interface ObjectHeaders {
  readonly contentType?: string;
  readonly contentEncoding?: string;
  /** By name without `x-amz-meta-`, lower case. */
  readonly userMetadata?: Readonly<Record<string, string>>;
  /** Base64 by algorithm: `crc32`. */
  readonly checksums?: Readonly<Record<string, string>>;
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
  /** Why the description beside the bytes cannot be used; the other members then say only what the file system knows. */
  readonly damage?: string;
}

const textByName = z.record(z.string(), z.string());

const contentSchema = z.object({
  etag: z.string(),
  lastModified: z.iso.datetime({ precision: 3 }),
  contentType: z.string().optional(),
  contentEncoding: z.string().optional(),
  userMetadata: textByName,
  checksums: textByName,
});

const descriptionSchema = contentSchema.extend({
  /** Describes the bytes before these, for as long as those may still be there. */
  previous: contentSchema.optional(),
  /** Name of the file in which the bytes arrived. It never chooses another folder. */
  received: z
    .string()
    .regex(/^\d+-[0-9a-f-]+$/)
    .optional(),
});

type Description = z.output<typeof descriptionSchema>;

/** Longest description that is read, in bytes; those that are written here have a tenth of it at most. */
const longestDescription = 65_536;

/**
 * What is known of the bytes at a path; undefined if there are none. Bytes without a description, such as those of a
 * copy of the folder without its metadata, are described by what the file system says.
 * @param data path of the bytes
 * @param description path of the JSON file about them
 */
export async function readMetadata(
  key: string,
  data: string,
  description: string,
): Promise<ObjectMetadata | undefined> {
  const file = await unlessAbsent(stat(data));
  if (file === undefined || !file.isFile()) return undefined;
  const { size } = file;
  const lastModified = new Date(Math.round(file.mtimeMs)).toISOString();
  const found = await unlessAbsent(readDescription(description));
  if (found === undefined || 'damage' in found) {
    const etag = undescribedTag(size, lastModified);
    return { key, size, etag, lastModified, userMetadata: {}, checksums: {}, ...found };
  }
  const { previous, received: _, ...current } = found;
  const isOfBefore = previous?.lastModified === lastModified && current.lastModified !== lastModified;
  return { key, size, ...(isOfBefore ? previous : current) };
}

/** Name of the file in which the bytes of a description arrived; undefined if it does not say so. */
export async function receivedName(description: string): Promise<string | undefined> {
  const found = await unlessAbsent(readDescription(description));
  return found === undefined || 'damage' in found ? undefined : found.received;
}

/** The bytes of this folder are as untrusted as any others: a description that was cut or replaced is damage. */
async function readDescription(path: string): Promise<Description | { readonly damage: string }> {
  const file = await open(path);
  try {
    const entry = await file.stat();
    if (!entry.isFile()) return damaged('it is no file');
    if (entry.size > longestDescription) return damaged(`it has ${entry.size} bytes`);
    const parsed = descriptionSchema.safeParse(JSON.parse(await file.readFile('utf8')));
    return parsed.success ? parsed.data : damaged('it is no description of an object');
  } catch (error) {
    if (error instanceof SyntaxError) return damaged('it is not JSON');
    throw error;
  } finally {
    await file.close();
  }
}

function damaged(reason: string): { readonly damage: string } {
  return { damage: `its metadata file in ${metadataFolder}/ cannot be used: ${reason}` };
}

/** An entity tag that changes with the bytes as far as can be told without reading them. */
function undescribedTag(size: number, lastModified: string): string {
  return `${size.toString(16)}-${Date.parse(lastModified).toString(16)}`;
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
