import { formatCount } from '../../terminal/format';
import { outcomeSign } from './cell-details';
import { buttonElement, byId, element, fillList, formatNumber, timeElement } from './dom';
import { type Model, type Row, resources } from './model';
import type { ReportFailure } from './report-data';

/** Failures with one reason, oldest run first. */
type Group = readonly ReportFailure[];

/** What was not archived, or archived with a doubt: a line per reason, which opens to its clusters. */
export class FailureList {
  readonly #section: HTMLElement;
  readonly #model: Model;
  readonly #failures: readonly ReportFailure[];
  readonly #goTo: (row: Row, run: number) => void;

  /**
   * @param id of the section
   * @param hasDoubt whether it is the list of doubts
   * @param goTo shows a cell of the grid
   */
  constructor(id: string, model: Model, hasDoubt: boolean, goTo: (row: Row, run: number) => void) {
    this.#section = byId(id);
    this.#model = model;
    this.#goTo = goTo;
    this.#failures = model.data.failures.filter(
      ({ cluster, run, resource }) => model.details(model.rowOf(cluster), run, resource).hasDoubt === hasDoubt,
    );
    this.#section.hidden = this.#failures.length === 0;
  }

  /** Lists what has the text in its cluster or its reason: what the last run has first, then what is most frequent. */
  filter(text: string): void {
    const { data } = this.#model;
    const wanted = text.trim().toLowerCase();
    const found = this.#failures.filter(({ cluster, reason, group }) =>
      [data.clusters[cluster]?.uid, reason, data.reasons[group]].some((one) => one?.toLowerCase().includes(wanted)),
    );
    const rank = (group: Group) => (this.#isInLastRun(group) ? 0 : 1);
    const groups = [...Map.groupBy(found, ({ group }) => group).values()].sort(
      (a, b) => rank(a) - rank(b) || b.length - a.length || lastOf(b).run - lastOf(a).run,
    );
    const leftOut = data.failuresLeftOut === 0 ? '' : ` (${formatNumber(data.failuresLeftOut)} older ones left out)`;
    const [count, list] = this.#section.querySelectorAll<HTMLElement>('.count, .groups');
    count?.replaceChildren(`${formatNumber(found.length)}${leftOut}`);
    if (list !== undefined) fillList(list, groups, (group) => this.#groupElement(group));
  }

  #groupElement(group: Group): HTMLElement {
    const clusters = [...Map.groupBy(group, ({ cluster }) => cluster).values()];
    clusters.sort((a, b) => lastOf(b).run - lastOf(a).run || runsOf(b) - runsOf(a));
    const whose = clusters.length === 1 ? this.#uidOf(lastOf(group)) : formatCount(clusters.length, 'cluster');
    const summary = element(
      'summary',
      element('span.times', `${formatNumber(group.length)} ×`),
      element('strong', this.#model.data.reasons[lastOf(group).group] ?? ''),
      element('span.quiet', `${whose} · ${this.#when(group)}`),
    );
    const made = element('details', summary);
    made.addEventListener('toggle', () => {
      if (made.childElementCount > 1) return;
      const list = element('div.clusters');
      fillList(list, clusters, (cluster) => this.#clusterElement(cluster));
      made.append(list);
    });
    return made;
  }

  #when(group: Group): string {
    const first = this.#model.timeOf(group[0]?.run ?? 0);
    const last = this.#isInLastRun(group) ? 'the last run' : this.#model.timeOf(lastOf(group).run);
    if (group[0]?.run !== lastOf(group).run) return `from ${first} to ${last}`;
    return this.#isInLastRun(group) ? 'only in the last run' : `only in run ${first}`;
  }

  #isInLastRun(group: Group): boolean {
    return lastOf(group).run === this.#model.lastRun;
  }

  /** What one cluster has of one reason. */
  #clusterElement(failures: Group): HTMLElement {
    const { cluster, run, resource, reason } = lastOf(failures);
    const row = this.#model.rowOf(cluster);
    const found = resources.filter((one) => failures.some((failure) => failure.resource === one)).join(' and ');
    const when = runsOf(failures) === 1 ? '' : `${runsOf(failures)} runs, the last: `;
    const button = buttonElement('button.link', row.cluster.uid, () => this.#goTo(row, run));
    return element(
      'div.entry',
      element('div', outcomeSign(this.#model.details(row, run, resource)), button),
      element('div.quiet', `${found} · ${when}`, timeElement(this.#model.timeOf(run))),
      element('div', reason),
    );
  }

  #uidOf({ cluster }: ReportFailure): string {
    return this.#model.rowOf(cluster).cluster.uid;
  }
}

function lastOf(group: Group): ReportFailure {
  const last = group.at(-1);
  if (last === undefined) throw new Error('A group of failures is never empty');
  return last;
}

function runsOf(failures: Group): number {
  return new Set(failures.map(({ run }) => run)).size;
}
