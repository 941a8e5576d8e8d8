import { formatCount, formatTime } from '../../terminal/format';
import { outcomeSign } from './cell-details';
import { byId, element, timeElement } from './dom';
import { fillList } from './long-list';
import { type Model, type Row, resources } from './model';
import { type ClusterFailures, groupFailures, type ReasonGroup } from './reason-groups';

type GoTo = (row: Row, run: number) => void;

/** What was not archived, or archived with a doubt: a line per reason, which opens to its clusters. */
export class FailureList {
  readonly #section: HTMLElement;
  readonly #model: Model;
  readonly #hasDoubt: boolean;
  readonly #goTo: GoTo;

  /**
   * @param id of the section
   * @param hasDoubt whether it is the list of doubts
   * @param goTo shows a cell of the grid
   */
  constructor(id: string, model: Model, hasDoubt: boolean, goTo: GoTo) {
    this.#section = byId(id);
    this.#model = model;
    this.#hasDoubt = hasDoubt;
    this.#goTo = goTo;
    this.#section.hidden = groupFailures(model, '', hasDoubt).length === 0;
  }

  /** Lists what has the text in its cluster or its reason. */
  filter(text: string): void {
    const groups = groupFailures(this.#model, text, this.#hasDoubt);
    const count = this.#section.querySelector('.count');
    const all = groups.reduce((sum, group) => sum + group.count, 0).toLocaleString('en-US');
    const { failuresLeftOut } = this.#model.data;
    const leftOut = failuresLeftOut === 0 ? '' : ` (${failuresLeftOut.toLocaleString('en-US')} older ones left out)`;
    if (count !== null) count.textContent = `${all}${leftOut}`;
    const list = this.#section.querySelector<HTMLElement>('.groups');
    if (list !== null) fillList(list, groups, (group) => this.#groupElement(group));
  }

  #groupElement(group: ReasonGroup): HTMLElement {
    const { reason, count, clusters } = group;
    const made = element(
      'details',
      '',
      element(
        'summary',
        '',
        element('span', 'times', `${count.toLocaleString('en-US')} ×`),
        element('strong', 'reason', reason),
        element('span', 'quiet', `${this.#whose(group)} · ${this.#when(group)}`),
      ),
    );
    made.addEventListener('toggle', () => {
      if (made.childElementCount > 1) return;
      const list = element('div', 'clusters');
      fillList(list, clusters, (cluster) => this.#clusterElement(cluster));
      made.append(list);
    });
    return made;
  }

  #whose({ clusters }: ReasonGroup): string {
    const [only, ...others] = clusters;
    return others.length === 0 ? (only?.row.cluster.uid ?? '') : formatCount(clusters.length, 'cluster');
  }

  #when({ firstRun, lastRun }: ReasonGroup): string {
    const isInLast = lastRun === this.#model.data.runs.length - 1;
    if (firstRun === lastRun) return isInLast ? 'only in the last run' : `only in run ${this.#timeOf(firstRun)}`;
    const first = this.#timeOf(firstRun);
    return isInLast ? `from ${first} to the last run` : `from ${first} to ${this.#timeOf(lastRun)}`;
  }

  #timeOf(run: number): string {
    return formatTime(this.#model.data.runs[run]?.time ?? '');
  }

  #clusterElement({ row, resources: found, runs, newest }: ClusterFailures): HTMLElement {
    const button = element('button', 'link', row.cluster.uid);
    button.type = 'button';
    button.addEventListener('click', () => this.#goTo(row, newest.run));
    const both = resources.filter((resource) => found.has(resource)).join(' and ');
    const when = runs.length === 1 ? '' : `${runs.length} runs, the last: `;
    const details = this.#model.details(row, newest.run, newest.resource);
    return element(
      'div',
      'entry',
      element('div', 'name', outcomeSign(details), button),
      element('div', 'quiet', `${both} · ${when}`, timeElement(this.#timeOf(newest.run))),
      element('div', 'said', newest.reason),
    );
  }
}
