import type { StringCapture } from './string-capture';

/** How many names are kept: enough to recognise a service's error document by. */
const mostNames = 5;

/** The names of a refused object's members, as far as an error message shows them. */
export class MemberNames {
  private readonly names: string[] = [];
  private hasMore = false;

  add({ value, tooLong }: StringCapture): void {
    if (this.names.length === mostNames) this.hasMore = true;
    else this.names.push(JSON.stringify(value).slice(1, -1) + (tooLong ? '…' : ''));
  }

  /** What kind of object it is, as part of a sentence. */
  describe(): string {
    if (this.names.length === 0) return 'an empty JSON object';
    return `a JSON object with members ${this.names.join(', ')}${this.hasMore ? ', …' : ''}`;
  }
}
