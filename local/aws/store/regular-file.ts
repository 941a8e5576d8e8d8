import { constants, type Dirent, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Something lies there that is no regular file beneath its folder: opening it could wait for ever, or lead elsewhere. */
export class IrregularFileError extends Error {
  override readonly name = 'IrregularFileError';

  constructor(
    message: string,
    readonly isFolder = false,
  ) {
    super(message);
  }
}

/** Where a file lies. */
export interface FilePath {
  readonly folder: string;
  /** Beneath the folder. */
  readonly path: string;
}

export interface OpenedFile {
  readonly file: FileHandle;
  /** In bytes. */
  readonly size: number;
}

/**
 * What lies at a path, without opening or following it.
 * @throws IrregularFileError if it is a folder, or no regular file, or reached by a symbolic link within the folder
 */
export async function statRegular({ folder, path }: FilePath): Promise<Stats> {
  const parentPath = join(folder, dirname(path));
  const [entry, parent] = await Promise.all([lstat(join(folder, path)), realpath(parentPath)]);
  const isFolder = entry.isDirectory();
  if (!entry.isFile()) throw new IrregularFileError(irregular(entry), isFolder);
  // Mostly no link leads to the folder either.
  if (parent !== parentPath && parent !== join(await realpath(folder), dirname(path)))
    throw new IrregularFileError('it lies behind a symbolic link');
  return entry;
}

/**
 * Opens a file for reading, with its size.
 * @throws IrregularFileError for what {@link statRegular} refuses, which is not opened
 */
export async function openRegular(place: FilePath): Promise<OpenedFile> {
  await statRegular(place);
  // Should it be replaced in this moment: a link is not followed, and a FIFO does not wait. Windows has neither flag.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = await open(join(place.folder, place.path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const opened = await file.stat();
  if (opened.isFile()) return { file, size: opened.size };
  await file.close();
  throw new IrregularFileError('it was replaced by what is not a regular file');
}

/** Says what an entry is that is no regular file. */
export function irregular(entry: Dirent | Stats): string {
  return `it is ${kindOf(entry)}, not a regular file`;
}

function kindOf(entry: Dirent | Stats): string {
  if (entry.isDirectory()) return 'a folder';
  if (entry.isSymbolicLink()) return 'a symbolic link';
  if (entry.isFIFO()) return 'a FIFO';
  if (entry.isSocket()) return 'a socket';
  return 'a device';
}
