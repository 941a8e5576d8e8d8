/** Bytes of the content's beginning that are looked at: enough for a licence comment before the page. */
const longestPrologue = 16 * 1024;

/** Recognises a media type of HTML, which no manifest has. */
export function isHtmlMediaType(mediaType: string): boolean {
  return ['text/html', 'application/xhtml+xml'].includes(mediaType);
}

/** Recognises content that begins like an HTML page: a gateway's error or login page instead of what was asked for. */
export class HtmlPageDetector {
  private readonly prologue: Buffer[] = [];
  private length = 0;

  write(content: Buffer): void {
    const missing = longestPrologue - this.length;
    if (missing <= 0 || content.length === 0) return;
    // Copied, so that a few bytes do not keep a large chunk alive.
    this.prologue.push(Buffer.from(content.subarray(0, missing)));
    this.length += Math.min(content.length, missing);
  }

  /** Whether the content so far is an HTML page; to be asked after its end. */
  get found(): boolean {
    // Latin-1 keeps bytes apart, whatever the content's encoding is.
    return beginsLikeHtml(Buffer.concat(this.prologue).toString('latin1'));
  }
}

const byteOrderMark = '\u00ef\u00bb\u00bf';
const space = /[\t\n\f\r ]*/y;
/** The name must end there: an XML document may begin with an element `header`. */
const pageBegin = /<(?:!doctype[\t\n\f\r ]+html|html|head|body)(?:[\t\n\f\r />]|$)/iy;

function beginsLikeHtml(text: string): boolean {
  let at = text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
  for (;;) {
    space.lastIndex = at;
    space.test(text);
    at = space.lastIndex;
    const closing = text.startsWith('<!--', at) ? '-->' : text.startsWith('<?', at) ? '?>' : undefined;
    if (closing === undefined) break;
    const end = text.indexOf(closing, at + 2);
    if (end === -1) return false;
    at = end + closing.length;
  }
  pageBegin.lastIndex = at;
  return pageBegin.test(text);
}
