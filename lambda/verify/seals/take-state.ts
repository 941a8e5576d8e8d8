import { parseSealStateKey, sealStateKey } from '../../archive/archive-layout';
import type { ArchiveReader } from '../archive-reader';
import type { Find } from '../finding';
import type { RightSeal, SealChain } from './seal-chain';
import { readState } from './seal-state';

/**
 * Reads the state of the head. If it is not what the head names, the newest of the chain that is right takes its place.
 * @param listed SHA-256 of the states that are there
 */
export async function takeState(
  reader: ArchiveReader,
  chain: SealChain,
  listed: ReadonlySet<string>,
  find: Find,
): Promise<void> {
  const { head } = chain;
  const lost = head && (await stateProblem(reader, chain, head));
  for (const seal of chain.seals.toReversed()) {
    if (chain.stateOf !== undefined) break;
    if (seal !== head && listed.has(seal.state)) await stateProblem(reader, chain, seal);
  }
  if (head !== undefined && lost !== undefined)
    find('seal-broken', sealStateKey(head.state), lostState(lost, head, chain));
  // A state that was lost once stays so, whatever the seals behind it have, until it is there again.
  for (const { kind, key, problem } of chain.state.open) {
    const sha256 = kind === 'seal-broken' ? parseSealStateKey(key) : undefined;
    if (sha256 === undefined || sha256 === head?.state) continue;
    if (!listed.has(sha256) || typeof (await readState(reader, sha256)) === 'string') find('seal-broken', key, problem);
  }
}

/** Makes the state of a seal that of the chain. @returns why it cannot be; undefined: it is */
async function stateProblem(reader: ArchiveReader, chain: SealChain, seal: RightSeal): Promise<string | undefined> {
  const state = await readState(reader, seal.state);
  if (typeof state === 'string') return state;
  chain.state = state;
  chain.stateOf = seal;
  return undefined;
}

function lostState(why: string, { number, open }: RightSeal, { stateOf }: SealChain): string {
  const counts = [open.damage, open.acknowledged, open.unreadable].reduce((sum, one) => sum + one, 0);
  const from =
    stateOf === undefined ? 'all of the archive is read again' : `all since seal ${stateOf.number} is judged again`;
  return `the state of seal ${number}: ${why}; open findings that may be lost: ${counts}; ${from}`;
}
