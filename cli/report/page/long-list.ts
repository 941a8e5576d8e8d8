import { element } from './dom';

/** Entries shown at first, and entries that the button adds. */
const [first, step] = [10, 50];

/** Fills a list with its first entries; a button behind it adds more. */
export function fillList<Entry>(list: HTMLElement, entries: readonly Entry[], elementOf: (entry: Entry) => Node): void {
  const more = element('button', 'more');
  more.type = 'button';
  let shown = 0;
  const showMore = () => {
    more.remove();
    const end = shown === 0 ? first : shown + step;
    list.append(...entries.slice(shown, end).map(elementOf));
    shown = Math.min(entries.length, end);
    more.textContent = `Show more (${(entries.length - shown).toLocaleString('en-US')} left)`;
    if (shown < entries.length) list.append(more);
  };
  more.addEventListener('click', showMore);
  list.replaceChildren();
  showMore();
}
