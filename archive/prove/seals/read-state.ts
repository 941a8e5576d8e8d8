import { parseJson } from '../../format/damaged-object-error';
import { sealStateKey } from '../../format/keys';
import { problems } from '../../format/problems';
import { sha256Of } from '../../format/seal-file';
import { largestStateBytes, type SealState, stateSchema } from '../../format/seal-state';
import type { ArchiveReader } from '../../read/archive-reader';
import { readWhole } from '../../read/read-whole';
import { orWhy } from './read-seals';

/**
 * The state that a seal names, or why it cannot be used.
 * @throws ArchiveReadError if it can be read another time
 */
export function readState(reader: ArchiveReader, sha256: string): Promise<SealState | string> {
  return orWhy(async () => {
    const found = await readWhole(reader, sealStateKey(sha256), largestStateBytes);
    if (found === undefined) return problems.notThere;
    if (sha256Of(found.bytes) !== sha256) return 'its SHA-256 is not the one in the seal';
    const { success, data, error } = stateSchema.safeParse(parseJson(found.bytes));
    return success ? data : `it is not a valid state: ${error.issues[0]?.path.join('.')}: ${error.issues[0]?.message}`;
  });
}
