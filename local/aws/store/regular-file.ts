import { closeSync, constants, type Dirent, fstatSync, lstatSync, openSync, realpathSync, type Stats } from 'node:fs';
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

/**
 * What lies at a path, without opening or following it. It asks in this thread: to hand such a question to another one, and
 * to hear from it, takes several times as long as the answer.
 * @throws IrregularFileError if it is a folder, or no regular file, or reached by a symbolic link within the folder
 */
export function statRegular({ folder, path }: FilePath): Stats {
  const parentPath = join(folder, dirname(path));
  const entry = lstatSync(join(folder, path));
  const isFolder = entry.isDirectory();
  if (!entry.isFile()) throw new IrregularFileError(irregular(entry), isFolder);
  const parent = realpathSync.native(parentPath);
  // Mostly no link leads to the folder either.
  if (parent !== parentPath && parent !== join(realpathSync.native(folder), dirname(path)))
    throw new IrregularFileError('it lies behind a symbolic link');
  return entry;
}

/**
 * Opens a file for reading, in this thread.
 * @returns its descriptor
 * @throws IrregularFileError for what {@link statRegular} refuses, which is not opened
 */
export function openRegular(place: FilePath): number {
  statRegular(place);
  const file = openSync(join(place.folder, place.path), openFlags);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new IrregularFileError('it was replaced by what is not a regular file');
}

// Should a file be replaced in the moment it is opened: a link is not followed, and a FIFO does not wait. Windows has
// neither flag.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const openFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

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
