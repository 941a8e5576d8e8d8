import { formatSecond, formatTime } from '../terminal/format';
import { type Html, html } from './html';

/** The time of a run, as commands take it, on one line. */
export function runTime(time: Date): Html {
  return html`<time>${formatTime(time)}</time>`;
}

/** A time that identifies nothing, on one line. */
export function moment(time: Date): Html {
  return html`<time>${formatSecond(time)}</time>`;
}

/** A command that one click selects, with what it is for. */
export function command(purpose: string, line: string): Html {
  // Options, times and uids are not broken at their hyphens while there is room for them on a line.
  const words = line.split(/(\S*-\S*)/).map((word, at) => (at % 2 === 0 ? word : html`<i>${word}</i>`));
  return html`<div class="command"><span>${purpose}</span> <code>${words}</code></div>`;
}

/** With commas between thousands. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en-US');
}
