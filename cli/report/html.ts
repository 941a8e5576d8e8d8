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

/** Markup with values in it. Values that are not markup are escaped, also inside quoted attributes; `false` is nothing. */
export function html(markup: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(String.raw({ raw: markup }, ...values.map(textOf)));
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (part === undefined || part === false) return '';
  if (typeof part === 'object') return part.map(textOf).join('');
  return printable(String(part)).replace(/[&<>"']/g, (character) => entities[character] ?? '');
}
