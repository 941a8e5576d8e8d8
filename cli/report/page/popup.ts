import { byId } from './dom';

const margin = 8;

/** The box that says more about what is under the pointer or has the focus. */
export class Popup {
  readonly #box = byId('popup');

  /** Shows the content beside a place of the page, inside the window. */
  show(place: DOMRect, content: Node): void {
    this.#box.replaceChildren(content);
    this.#box.hidden = false;
    const { width, height } = this.#box.getBoundingClientRect();
    const left = Math.min(place.left, innerWidth - width - margin);
    const isBelow = place.bottom + margin + height <= innerHeight;
    const top = isBelow ? place.bottom + margin : place.top - margin - height;
    this.#box.style.left = `${Math.max(margin, left)}px`;
    this.#box.style.top = `${Math.max(margin, top)}px`;
  }

  hide(): void {
    this.#box.hidden = true;
  }
}
