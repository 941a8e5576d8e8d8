/** How much of a content's beginning tells whether it is an HTML page, in bytes. */
export const htmlBeginningBytes = 16 * 1024;

/** White space, comments and processing instructions: one piece of what may stand before a page's first tag. */
const prologPiece = /^(?:[\s\ufeff]+|<!(?=--)[\s\S]*?-->|<\?[\s\S]*?\?>)/;

const htmlTag = /^<(?:!doctype\s*)?html(?:[\s>]|$)/i;

/** Error pages without an html tag begin so, also within head or body. In declared XML, elements happen to have these names. */
const errorPageTag = /^<(?:(?:head|body(?: [^>]*)?)>\s*<)?(?:title|center|h[1-6])(?:\s[^>]*)?>/;

/** Whether content is an HTML page. @param beginning of the content, its first {@link htmlBeginningBytes} */
export function isHtmlPage(beginning: string): boolean {
  let text = beginning;
  // Piece by piece: a repeated group would try every way to divide the text.
  for (let piece = prologPiece.exec(text); piece !== null; piece = prologPiece.exec(text))
    text = text.slice(piece[0].length);
  return htmlTag.test(text) || (errorPageTag.test(text) && !/^\s*<\?xml/.test(beginning));
}
