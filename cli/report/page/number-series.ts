/**
 * Numbers in base 36 between commas. An empty place is the number before it: most manifests stay as they are for days.
 */
export class NumberSeriesWriter {
  #text = '';
  #last: number | undefined;
  #length = 0;

  /** Puts a number at an index; indices only grow. Places left out repeat the number before. */
  set(index: number, value: number): void {
    this.#pad(index);
    this.#text += `${this.#length === 0 ? '' : ','}${value === this.#last ? '' : value.toString(36)}`;
    this.#last = value;
    this.#length += 1;
  }

  /** @param length places in all */
  finish(length: number): string {
    this.#pad(length);
    return this.#text;
  }

  #pad(length: number): void {
    for (; this.#length < length; this.#length += 1) if (this.#length > 0) this.#text += ',';
  }
}

/** The numbers of a series; undefined before the first. */
export function readNumberSeries(text: string): (number | undefined)[] {
  let last: number | undefined;
  return text.split(',').map((place) => {
    if (place !== '') last = Number.parseInt(place, 36);
    return last;
  });
}
