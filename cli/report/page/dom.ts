/** The element of the page's own skeleton with this id. */
export function byId<Found extends HTMLElement = HTMLElement>(id: string): Found {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}`);
  return found as Found;
}

type Attributes = Readonly<Record<string, string | number>>;

/**
 * A new element. Text becomes text nodes, never markup: most of it comes from elsewhere.
 * @param name tag and classes, as `div.tile.alarming`
 */
export function element(name: string, ...parts: readonly (Node | string | Attributes)[]): HTMLElement {
  const [tag = '', ...classes] = name.split('.');
  const made = document.createElement(tag);
  made.classList.add(...classes);
  for (const part of parts) {
    if (typeof part === 'string' || part instanceof Node) made.append(part);
    else for (const [attribute, value] of Object.entries(part)) made.setAttribute(attribute, String(value));
  }
  return made;
}

/** A time that no line break divides. */
export function timeElement(text: string): HTMLElement {
  return element('span.when', text);
}

/** A command that one click selects, with what it is for. */
export function commandElement(purpose: string, command: string): HTMLElement {
  return element('div.command.line', element('span.quiet', purpose), element('code', command));
}

export function buttonElement(name: string, text: string, onClick: () => void): HTMLElement {
  const button = element(name, { type: 'button' }, text);
  button.addEventListener('click', onClick);
  return button;
}

/** Entries of a list that are shown at first, and entries that its button adds. */
const [first, step] = [10, 50];

/** A list of the first entries; a button behind them adds more. */
export function listElement<Entry>(entries: readonly Entry[], elementOf: (entry: Entry) => Node): HTMLElement {
  const list = element('div');
  const showMore = (begin: number, end: number) => {
    list.append(...entries.slice(begin, end).map(elementOf));
    if (end >= entries.length) return;
    const more = buttonElement('button.more', `Show more (${formatNumber(entries.length - end)} left)`, () => {
      more.remove();
      showMore(end, end + step);
    });
    list.append(more);
  };
  showMore(0, first);
  return list;
}

/** With commas between thousands. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en-US');
}

/** Room between the popup and what it is about, in CSS pixels. */
const margin = 8;

/** Says more about what is under the pointer or has the focus, in a box beside its place, inside the window. */
export function showPopup(place: DOMRect, content: Node): void {
  const box = byId('popup');
  box.replaceChildren(content);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const isBelow = place.bottom + margin + height <= innerHeight;
  box.style.left = `${Math.max(margin, Math.min(place.left, innerWidth - width - margin))}px`;
  box.style.top = `${Math.max(margin, isBelow ? place.bottom + margin : place.top - margin - height)}px`;
}

export function hidePopup(): void {
  byId('popup').hidden = true;
}
