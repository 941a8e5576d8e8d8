/** Folder of what is known of the objects beside their bytes. No key lies in it. It is visible, so that every copy has it. */
export const metadataFolder = 'metadata';

const hidden = `.${metadataFolder}`;

/** Folder of bytes that are still arriving, and of their descriptions. */
export const incomingFolder = `${hidden}-incoming`;

/** Where a local deployment keeps its signing keys, beside the objects. No reader of the archive looks into it. */
export const keysFolder = `${hidden}-keys`;

/** Longest key segment that is one file name, in bytes; leaves room for `.json` within the usual 255. */
const longestName = 200;

/** Ends a file name whose segment goes on within the folder of that name, and begins the name there. */
export const continued = '…';

/** The key cannot lie in a folder. */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}

const plainKey = /^(?!metadata(?:\/|$))[\w=%-][\w.=%-]{0,150}(?:\/[\w=%-][\w.=%-]{0,150})*$/;

/** Whether a key is its own path: plain characters, and no segment that begins with a dot or is long. Nearly all are. */
export function isPlain(key: string): boolean {
  return plainKey.test(key);
}

function keyProblem(key: string): string | undefined {
  if (isPlain(key)) return undefined;
  for (const segment of key.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') return `its segment "${segment}" is not a file name`;
    if (segment.includes('\\') || segment.includes('\0')) return 'a file name has no backslash and no NUL';
    if (/\p{Surrogate}/u.test(segment)) return 'it is not valid text';
    // Node.js reads it in the place of bytes that are not UTF-8: a file that has it in its name may be any of several.
    if (segment.includes('\ufffd')) return 'the character U+FFFD stands for bytes that are not UTF-8';
    if (segment.endsWith(continued)) return `names that end with ${continued} are reserved`;
  }
  if (key.startsWith(hidden)) return `names that begin with ${hidden} are reserved`;
  return /^metadata(?:\/|$)/.test(key) ? `the name ${metadataFolder} is reserved` : undefined;
}

/**
 * The path of a key's file beneath the folder, with slashes.
 * @throws InvalidKeyError for a key that would leave the folder, or that a file system cannot tell from another
 */
export function pathOf(key: string): string {
  const problem = keyProblem(key);
  if (problem !== undefined)
    throw new InvalidKeyError(`Storing ${JSON.stringify(key)} in a folder failed: ${problem}; use another key`);
  return isPlain(key) ? key : key.split('/').map(filePathOf).join('/');
}

/** The file name of a segment, or several, one within the other, if it is too long for one. */
function filePathOf(segment: string): string {
  if (Buffer.byteLength(segment) <= longestName) return segment;
  // A character has 4 bytes at most.
  const parts = segment.match(/.{1,48}/gsu) ?? [];
  return parts.join(`${continued}/${continued}`);
}

/** The key of a file, or what the keys in a folder begin with, if the path ends with a slash. */
export function keyOf(path: string): string {
  if (!path.includes(continued)) return path;
  return path.replace(new RegExp(`${continued}/(?:${continued}|$)`, 'g'), '');
}

/** Why nothing is stored at a path, which ends with a slash for a folder; undefined: something may be. */
export function pathProblem(path: string): string | undefined {
  if (path === '' || isPlain(path)) return undefined;
  const key = keyOf(path).replace(/\/$/, '');
  const problem = keyProblem(key);
  if (problem !== undefined) return `no key has this name: ${problem}`;
  // What goes on in a folder is judged with what it goes on with.
  if (path.endsWith(`${continued}/`)) return undefined;
  const isItsPlace = pathOf(key) === path.replace(/\/$/, '');
  return isItsPlace ? undefined : `no key has this name: ${JSON.stringify(key)} has another`;
}
