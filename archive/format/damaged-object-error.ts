/** The content is not what was archived, or no longer readable at all. */
export class DamagedObjectError extends Error {
  override readonly name = 'DamagedObjectError';
}

/** @throws DamagedObjectError if it is not JSON, in UTF-8 */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    throw new DamagedObjectError('it is not JSON', { cause: error });
  }
}
