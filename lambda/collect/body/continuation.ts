import type { JsonType } from '../../../archive/format/json/json-scanner';
import { StringCapture, type StringSink } from '../../../archive/format/json/json-string-scanner';
import { doubts } from './doubts';

/** Members that hold what is said of a list, beside its items. */
const besideItems = /^(?:meta(?:data)?|pag(?:e|ing|ination)(?:info)?|links)$/;

/** Say where a list goes on, with any text. */
const tokenNames =
  /^(?:next(?:page|continuation)?(?:token|cursor|marker|link)|continuationtoken|(?:@odata\.)?nextlink)$/;

/** Say that it does, with true. */
const flagNames = /^(?:(?:is)?truncated|hasmore|hasnextpage|incompleteresults)$/;

/** How much of a value is read, in UTF-16 code units: enough to tell an address. */
const mostRead = 10;

/**
 * Whether content says of itself that it is not all: the first page of a list, or a text that was cut. The contract shows no
 * pages, and nothing is asked for after the first.
 */
export class Continuation {
  readonly #parents: RegExp;
  #found: string | undefined;

  /** @param parents names of members whose members count, without - and _ and in lower case */
  constructor(parents = besideItems) {
    this.#parents = parents;
  }

  /** Whether the members of a member count. */
  readsInside(name: string): boolean {
    return this.#parents.test(plainOf(name));
  }

  get doubt(): string | undefined {
    return this.#found === undefined ? undefined : doubts.goesOn(this.#found);
  }

  /**
   * A member of a JSON document.
   * @param parent name of the member that holds it; undefined: it is of the outermost object
   * @returns takes its text, if that decides
   */
  member(parent: string | undefined, name: string, type: JsonType): StringSink | undefined {
    if (type === 'true') this.text(parent, name, 'true');
    if (type !== 'string' || !this.#counts(parent, name)) return undefined;
    return new StringCapture(mostRead, ({ value }) => this.text(parent, name, value));
  }

  /** The same of a member whose value is a text, as in YAML. @param value its beginning is enough */
  text(parent: string | undefined, name: string, value: string): void {
    if (this.#found !== undefined || value === '' || !this.#counts(parent, name)) return;
    const plain = plainOf(name);
    if (flagNames.test(plain) && value !== 'true') return;
    // Other things have a member "next" too; of a list it is an address.
    if (plain === 'next' && !/^(?:https?:\/\/|\/)/.test(value)) return;
    this.#found = parent === undefined ? name : `${parent}.${name}`;
  }

  #counts(parent: string | undefined, name: string): boolean {
    const plain = plainOf(name);
    if (parent !== undefined && !this.readsInside(parent)) return false;
    if (plain === 'continue') return parent !== undefined;
    return plain === 'next' || tokenNames.test(plain) || flagNames.test(plain);
  }
}

function plainOf(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}
