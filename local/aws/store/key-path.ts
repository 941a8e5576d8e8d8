/** Folder of what is known of the objects beside their bytes; no key may begin with its name. */
export const metadataFolder = '.metadata';

/** Longest key segment that is one file name, in bytes; leaves room for `.json` within the usual 255. */
const longestName = 200;

/** Ends a file name whose segment goes on within the folder of that name, and begins the name there. */
const continued = '…';

/** The key cannot lie in a folder. */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}

/**
 * The segments of a key.
 * @throws InvalidKeyError for a key that would leave the folder, or that a file system cannot tell from another
 */
export function segmentsOf(key: string): string[] {
  const segments = key.split('/');
  for (const segment of segments) {
    if (segment === '' || segment === '.' || segment === '..')
      throw invalid(key, `its segment "${segment}" is no file name`);
    if (segment.includes('\\') || segment.includes('\0'))
      throw invalid(key, 'backslash and NUL are no part of a file name');
    if (/\p{Surrogate}/u.test(segment)) throw invalid(key, 'it is no valid text');
    if (segment.endsWith(continued)) throw invalid(key, `names that end with ${continued} are reserved`);
  }
  if (segments[0]?.startsWith(metadataFolder))
    throw invalid(key, `names that begin with ${metadataFolder} are reserved`);
  return segments;
}

/** The file names of a segment, one within the other: several if it is too long for one. */
export function fileNamesOf(segment: string): string[] {
  if (Buffer.byteLength(segment) <= longestName) return [segment];
  // A character has 4 bytes at most.
  const parts = segment.match(/.{1,48}/gsu) ?? [];
  return parts.join(`${continued}/${continued}`).split('/');
}

/** The key of a file, or what the keys in a folder begin with, if the path ends with a slash. */
export function keyOf(path: string): string {
  return path.replace(new RegExp(`${continued}/(?:${continued}|$)`, 'g'), '');
}

function invalid(key: string, reason: string): InvalidKeyError {
  return new InvalidKeyError(`Storing ${JSON.stringify(key)} in a folder failed: ${reason}; use another key`);
}
