import { formatTime } from '../../terminal/format';
import { byId, element } from './dom';
import type { Model, Row } from './model';
import type { ReportFailure } from './report-data';

/** Rows added at a time. */
const step = 100;

/** What was not archived, or archived with a doubt, newest first, with its reason. */
export class FailureList {
  #failures: readonly ReportFailure[] = [];
  #shown = 0;
  readonly #body = byId('failure-rows');
  readonly #more = byId<HTMLButtonElement>('more-failures');
  readonly #model: Model;
  readonly #goTo: (row: Row, run: number) => void;

  /** @param goTo shows a cell of the grid */
  constructor(model: Model, goTo: (row: Row, run: number) => void) {
    this.#model = model;
    this.#goTo = goTo;
    this.#more.addEventListener('click', () => this.#showMore());
  }

  /** Lists the failures whose cluster or reason has the text. */
  filter(text: string): void {
    const wanted = text.trim().toLowerCase();
    const { data } = this.#model;
    this.#failures = data.failures
      .filter(
        ({ cluster, reason }) =>
          reason.toLowerCase().includes(wanted) ||
          (data.clusters[cluster]?.uid.toLowerCase().includes(wanted) ?? false),
      )
      .reverse();
    this.#shown = 0;
    this.#body.replaceChildren();
    byId('failures').hidden = data.failures.length === 0;
    const leftOut = data.failuresLeftOut === 0 ? '' : ` (${data.failuresLeftOut} older ones left out)`;
    byId('failure-count').textContent = `${this.#failures.length}${leftOut}`;
    this.#showMore();
  }

  #showMore(): void {
    this.#body.append(...this.#failures.slice(this.#shown, this.#shown + step).map((failure) => this.#rowOf(failure)));
    this.#shown = Math.min(this.#failures.length, this.#shown + step);
    this.#more.hidden = this.#shown === this.#failures.length;
    this.#more.textContent = `Show more (${this.#failures.length - this.#shown} left)`;
  }

  #rowOf({ cluster, run, resource, reason }: ReportFailure): HTMLElement {
    const row = this.#model.rows[cluster];
    const button = element('button', 'link', row?.cluster.uid ?? '');
    button.type = 'button';
    button.addEventListener('click', () => {
      if (row !== undefined) this.#goTo(row, run);
    });
    const outcome = row === undefined ? 'failed' : this.#model.details(row, run, resource).outcome;
    return element(
      'tr',
      '',
      element('td', 'nowrap', formatTime(this.#model.data.runs[run]?.time ?? '')),
      element('td', '', button),
      element('td', '', resource),
      element('td', 'nowrap', element('i', outcome), outcome.replace('-', ' ')),
      element('td', 'reason', reason),
    );
  }
}
