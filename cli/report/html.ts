import type { Resource } from '../../archive/format/resources';
import { formatTime, shellQuoted } from '../terminal/format';
import { printable } from '../terminal/printable';

/** Markup. Only {@link html} makes it, so that text from an archive cannot become any. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | false | undefined | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Markup with values in it. Values that are not markup are escaped, also inside quoted attributes; numbers get commas between
 * thousands, and `false` is nothing.
 */
export function html(markup: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(String.raw({ raw: markup }, ...values.map(textOf)));
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (part === undefined || part === false) return '';
  if (typeof part === 'number') return part.toLocaleString('en-US');
  if (typeof part === 'object') return part.map(textOf).join('');
  return printable(part).replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** The time of a run, as commands take it. */
export function runTime(time: Date): Html {
  return html`<time>${formatTime(time)}</time>`;
}

/** A command that one click selects, with what it is for. */
export function command(purpose: string, line: string): Html {
  return html`<p class="command">${purpose} <code>${line}</code></p>`;
}

/** The commands that show more than the report. @param archive its location, as its user named it */
export function commandsOf(archive: string) {
  const where = `--archive ${shellQuoted(archive)}`;
  const collector = (command: string) => `npm run collector -- ${command} ${where}`;
  const ofCluster = (uid: string, command: string) => {
    // A uid may look like an option.
    const argument = `${uid.startsWith('-') ? '-- ' : ''}${shellQuoted(uid)}`;
    return `npm run --silent collector -- ${command} ${where} ${argument}`;
  };
  const complete = (run: Date) => `npm run collector -- run --stack NAME --run ${formatTime(run)}`;
  return {
    change: (uid: string, run: Date) => ofCluster(uid, `diff --run ${formatTime(run)}`),
    changes: (run: Date) => collector(`history --all --from ${formatTime(run)} --to ${formatTime(run)}`),
    content: (uid: string, resource: Resource, run: Date) =>
      ofCluster(uid, `show --resource ${resource} --run ${formatTime(run)}`),
    cluster: (uid: string) => collector(`runs --cluster=${shellQuoted(uid)}`),
    run: (run: Date) => collector(`runs ${formatTime(run)}`),
    complete,
    collectLate: (run: Date) => `${complete(run)} --without-record`,
    verify: collector('verify'),
  };
}

export type Commands = ReturnType<typeof commandsOf>;
