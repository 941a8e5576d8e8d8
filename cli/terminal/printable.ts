import { StringDecoder } from 'node:string_decoder';

/**
 * Control characters (escape sequences begin with one), line separators, and the characters that reverse the direction
 * of text.
 */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Writes out every character of a text from elsewhere that a terminal would obey rather than show. */
export function printable(text: string): string {
  return text.replace(unsafe, (character) => named[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The same for lines of content: line ends and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(/[^\n\t]+/g, printable);
}

/** The same for content in chunks. What is not UTF-8 becomes U+FFFD. */
export async function* printableContent(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  for await (const chunk of chunks) yield printableLines(decoder.write(chunk));
  yield printableLines(decoder.end());
}

/** JSON with the characters written as escapes that a terminal would obey rather than show. */
export function escapedJson(document: unknown): string {
  return JSON.stringify(document).replace(
    unsafe,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
