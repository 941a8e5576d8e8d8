import { closeSync, constants, type Dirent, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';

/** What lies there is not a regular file: opening it could wait for ever, or lead elsewhere. */
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

/** Without `join`, which takes as long as asking for what lies there: a key needs no normalising. */
function pathOf({ folder, path }: FilePath): string {
  return `${folder}/${path}`;
}

/**
 * What lies at a path, without opening or following it. It asks in this thread: to hand such a question to another one, and
 * to hear from it, takes several times as long as the answer.
 * @throws IrregularFileError if it is not a regular file
 */
export function statRegular(place: FilePath): Stats {
  return demandRegular(lstatSync(pathOf(place)));
}

/** Whether anything but a folder lies at a path. */
export function liesThere(place: FilePath): boolean {
  return lstatSync(pathOf(place), { throwIfNoEntry: false })?.isDirectory() === false;
}

/**
 * Opens a file for reading, in this thread.
 * @returns its descriptor, and what lies there
 * @throws IrregularFileError if it is not a regular file
 */
export function openRegular(place: FilePath): { readonly file: number; readonly stats: Stats } {
  const file = open(pathOf(place));
  try {
    return { file, stats: demandRegular(fstatSync(file)) };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

// A link is not followed, and a FIFO does not wait. Windows has neither flag.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** The bytes of a small file. @throws IrregularFileError as {@link openRegular}, also if it is longer than `mostBytes` */
export function readRegular(place: FilePath, mostBytes: number): Buffer {
  const { file, stats } = openRegular(place);
  try {
    if (stats.size > mostBytes) throw new IrregularFileError(`it has ${stats.size} bytes`);
    return readOpened(file, stats.size);
  } finally {
    closeSync(file);
  }
}

/** Without readFileSync, which asks for the size once more. @param size how many bytes it has, or had when it was opened */
function readOpened(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read)
    read = readSync(file, bytes, length, size - length, null);
  return bytes.subarray(0, length);
}

function open(path: string): number {
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    // A link or a socket cannot be opened so, and says what it is.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ELOOP', 'ENXIO', 'EOPNOTSUPP', 'EMLINK'].includes(code)) demandRegular(lstatSync(path));
    throw error;
  }
}

function demandRegular(entry: Stats): Stats {
  if (!entry.isFile()) throw new IrregularFileError(irregular(entry), entry.isDirectory());
  return entry;
}

/** Says what an entry is that is not a regular file. */
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
