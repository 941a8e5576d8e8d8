import type { Find, Finding, FindingKind } from '../verify/finding';
import { mostFindings, type Seal } from '../verify/seals/seal';

/** Longest description of a problem, in characters: it may quote what somebody wrote into the archive. */
const mostCharacters = 500;

/** Counts what an audit finds and keeps the first of it. */
export class Findings {
  readonly #counts = new Map<FindingKind, number>();
  readonly #kept: Finding[] = [];

  readonly find: Find = (kind, key, problem) => {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    if (this.#kept.length < mostFindings) this.#kept.push({ kind, key, problem: problem.slice(0, mostCharacters) });
  };

  /** As a seal has it. */
  get summary(): Pick<Seal, 'found' | 'findings'> {
    return { found: Object.fromEntries(this.#counts), findings: [...this.#kept] };
  }
}
