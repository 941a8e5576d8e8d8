import { element } from './dom';

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
