/** One body of a table. */
export interface TableEntry {
  /** What it is, or who answers so. */
  readonly name: string;
  readonly body: string | Buffer;
  /** Whether the content itself shows where it ends. */
  readonly showsItsEnd?: boolean;
  /** The Content-Type under which it is judged; left out: under each. */
  readonly mediaType?: string;
  /** All of the message by which it is refused, or of the doubt. */
  readonly says?: string;
}

/** The uid of the cluster that every table asks for. */
export const uid = 'cluster-1';

/** An entry whose content shows where it ends. */
export function whole(name: string, body: string): TableEntry {
  return { name, body, showsItsEnd: true };
}

export function json(name: string, value: unknown): TableEntry {
  return whole(name, JSON.stringify(value));
}

/** Entries that say themselves what they are. */
export function bodies(texts: readonly string[]): TableEntry[] {
  return texts.map((body) => ({ name: JSON.stringify(body).slice(0, 80), body }));
}

/** The same entries under one media type. */
export function under(mediaType: string, entries: readonly TableEntry[]): TableEntry[] {
  return entries.map((entry) => ({ ...entry, mediaType }));
}

/** Entries that are refused, or doubted, with the same words. */
export function all(says: string, entries: readonly TableEntry[]): TableEntry[] {
  return entries.map((entry) => ({ ...entry, says }));
}
