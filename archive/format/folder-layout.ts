/** Folder of what is known of the objects beside their bytes. No key lies in it. It is visible, so that every copy has it. */
export const metadataFolder = 'metadata';

const hidden = `.${metadataFolder}`;

/** Folder of bytes that are still arriving, and of their descriptions. */
export const incomingFolder = `${hidden}-incoming`;

/** Where a local deployment keeps its signing keys, beside the objects. No reader of the archive looks into it. */
export const keysFolder = `${hidden}-keys`;

/** Longest segment of a key, in bytes: file names end at 255, and that of its description is five longer. */
const longestSegment = 250;

/**
 * Whether a file manager leaves files or folders of this name wherever it looks: those of macOS, Windows and Synology. No key of the
 * archive has such a segment.
 */
export function isOfFileManager(name: string): boolean {
  return /^(?:\.DS_Store|Thumbs\.db|desktop\.ini|@eaDir|\._.+)$/.test(name);
}

const plainSegment = `[A-Za-z0-9][\\w.=%-]{0,${longestSegment - 1}}`;

/** Nearly all keys: nothing of their segments has to be asked one by one. */
const plainKey = new RegExp(`^(?!${metadataFolder}(?:/|$))${plainSegment}(?:/${plainSegment})*$`);

/** The key cannot lie in a folder. */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}

/** Why no object has a key in a folder: it would leave the folder, or a file system could not tell it from another. */
export function keyProblem(key: string): string | undefined {
  if (plainKey.test(key)) return undefined;
  for (const segment of key.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') return `its segment "${segment}" is not a file name`;
    if (segment.includes('\\') || segment.includes('\0')) return 'a file name has no backslash and no NUL';
    if (/\p{Surrogate}/u.test(segment)) return 'it is not valid text';
    // Node.js reads it in the place of bytes that are not UTF-8: a file that has it in its name may be any of several.
    if (segment.includes('\ufffd')) return 'the character U+FFFD stands for bytes that are not UTF-8';
    if (Buffer.byteLength(segment) > longestSegment) return `a segment has more than ${longestSegment} bytes`;
  }
  if (key.startsWith(hidden)) return `names that begin with ${hidden} are reserved`;
  return /^metadata(?:\/|$)/.test(key) ? `the name ${metadataFolder} is reserved` : undefined;
}
