/** The element of the page's own skeleton with this id. */
export function byId<Found extends HTMLElement = HTMLElement>(id: string): Found {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}`);
  return found as Found;
}

/** A new element. Text becomes text nodes, never markup: most of it comes from elsewhere. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className = '',
  ...content: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (className !== '') made.className = className;
  made.append(...content);
  return made;
}

/** A time that no line break divides. */
export function timeElement(text: string): HTMLElement {
  return element('span', 'when', text);
}

/** A command that one click selects, with what it is for. */
export function commandElement(purpose: string, command: string): HTMLElement {
  return element('div', 'command', element('span', 'quiet', purpose), element('code', '', command));
}

/** A new SVG element with attributes. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | number>>,
  ...content: (Node | string)[]
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...content);
  return made;
}

/** Width of the widest text in the font of the names, in CSS pixels. */
export function widestText(parent: HTMLElement, texts: readonly string[]): number {
  const sample = element('span', 'uid');
  parent.append(sample);
  const { font } = getComputedStyle(sample);
  sample.remove();
  const context = document.createElement('canvas').getContext('2d');
  if (context === null) return 0;
  context.font = font;
  return texts.reduce((widest, text) => Math.max(widest, context.measureText(text).width), 0);
}
