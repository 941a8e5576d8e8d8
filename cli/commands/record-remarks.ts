import type { ClusterObject } from '../../lambda/verify/objects-between';
import type { Remark } from '../archive/recorded-object';
import { formatCount, formatTime } from '../terminal/format';
import { printable } from '../terminal/printable';
import { type Ending, print, printProblem, type Terminal } from '../terminal/terminal';

/** Most objects that one line names. */
const mostNamed = 5;

interface Remarked extends Pick<ClusterObject, 'resource' | 'cluster' | 'run'> {
  readonly remark: Remark | undefined;
}

/** Keeps what the run records say of the objects that a command shows, to say it on standard error. */
export class RecordRemarks {
  /** Objects by what is said of them. */
  readonly #said = new Map<string, { readonly remark: Remark; readonly names: string[] }>();

  constructor(objects: readonly Remarked[] = []) {
    for (const object of objects) this.add(object);
  }

  add({ resource, cluster, run, remark }: Remarked): void {
    if (remark === undefined) return;
    const said = this.#said.get(remark.text) ?? { remark, names: [] };
    this.#said.set(remark.text, said);
    said.names.push(`${resource} of ${cluster}, run ${formatTime(run)}`);
  }

  async print(terminal: Pick<Terminal, 'err' | 'errColors'>): Promise<void> {
    for (const { remark, names } of this.#said.values()) {
      const more = names.length - mostNamed;
      const which = `${names.slice(0, mostNamed).join('; ')}${more > 0 ? ` and ${formatCount(more, 'other')}` : ''}`;
      if (remark.kind === 'note') await print(terminal.err, `${printable(which)}: ${printable(remark.text)}.\n`);
      else await printProblem(terminal, `${remark.kind}:`, `${which}: ${remark.text}`);
    }
  }

  /** @param damaged how a command ends that has shown something damaged */
  ending(damaged: Ending = 'found'): Ending {
    const kinds = [...this.#said.values()].map(({ remark }) => remark.kind);
    if (kinds.includes('damage')) return damaged;
    return kinds.includes('unreadable') ? 'trouble' : 'ok';
  }
}
