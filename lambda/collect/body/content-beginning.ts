import { doubts, type Objection } from './doubts';
import { essenceOf } from './media-type';

/**
 * The bytes of white space, and of other characters that nobody sees, as UTF-8 writes them. An error behind them is an error
 * all the same, so they are skipped where content is judged; what is stored keeps them. Bytes and not characters: it does not
 * matter where the content is split.
 */
const blankBytes = new Set(Buffer.from('\t\n\v\f\r \u0085\u00a0\u200b\u2028\u2029\u3000\ufeff'));

/** How much of a content's beginning tells whether it is an HTML page, in bytes. */
const mostBytes = 16 * 1024;

/** White space, comments and processing instructions: one piece of what may stand before a page's first tag. */
const prologPiece = /^(?:[\s\ufeff]+|<!(?=--)[\s\S]*?-->|<\?[\s\S]*?\?>)/;

const htmlTag = /^<(?:!doctype\s*)?html(?:[\s>]|$)/i;

/** Error pages without an html tag begin so, also within head or body. In declared XML, elements happen to have these names. */
const errorPageTag = /^<(?:(?:head|body(?: [^>]*)?)>\s*<)?(?:title|center|h[1-6])(?:\s[^>]*)?>/;

/** Any tag, in XML too. */
const anyTag = /^<([a-z][a-z0-9-]*)(?=[\s/>]|$)(?![^>]*\bxmlns)/i;

/** Elements that pages begin with, and other texts hardly ever. */
const ofPages = /^(?:meta|script|style|link|base|form|iframe|noscript|a|p|b|br|hr|div|span|pre|font|table|img)$/;

/** What may stand in HTML at all, and elements that applications name themselves. */
const ofHtml = new RegExp(
  `${ofPages.source}|^(?:abbr|acronym|address|area|article|aside|audio|bdi|bdo|big|blockquote|body|button|canvas|caption|center|cite|code|col|dd|del|details|dfn|dialog|dir|dl|dt|em|embed|fieldset|figure|footer|frame|frameset|h[1-6]|head|header|i|input|ins|kbd|label|legend|li|main|map|mark|menu|nav|noframes|object|ol|option|picture|progress|q|s|samp|section|select|small|strike|strong|sub|summary|sup|svg|tbody|td|template|textarea|th|thead|time|title|tr|tt|u|ul|var|video|[a-z]+-[a-z-]+)$`,
);

/** What a page is called in a reason. Its end is advice. */
export const htmlPage = 'an HTML page, perhaps a login page; check service.baseUrl';

/** The beginning of a content: whether it is an HTML page in place of what was asked for. */
export class ContentBeginning {
  /** From the first byte that shows something on. */
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** The first byte that shows something. */
  get first(): number | undefined {
    return this.#chunks[0]?.[0];
  }

  /** Whether more content may show that it is a page: nothing was seen yet, or a tag begins, or something in UTF-16 or UTF-32. */
  get mayBeAPage(): boolean {
    return this.first === undefined || this.first === 0x3c || this.first === 0 || this.first >= 0xfe;
  }

  /** Whether more content would change nothing. */
  get isWhole(): boolean {
    return this.#length === mostBytes;
  }

  /** @returns the content from the first byte that shows something on */
  write(content: Buffer): Buffer {
    const from = this.#length > 0 ? 0 : content.findIndex((byte) => !blankBytes.has(byte));
    if (from === -1) return content.subarray(content.length);
    const shown = content.subarray(from);
    const missing = mostBytes - this.#length;
    // Copied, because the caller may use the chunk again.
    if (missing > 0) this.#chunks.push(Buffer.from(shown.subarray(0, missing)));
    this.#length += Math.min(missing, shown.length);
    return shown;
  }

  /**
   * Whether the content begins with the length of a piece, as uploads to S3 are framed: a gateway has stored the framing.
   * @param isDeclared whether the answer names the framing: only then is a number in a line of its own a length
   */
  weighFraming(isDeclared = false): Objection {
    const beginning = Buffer.concat(this.#chunks).toString('latin1', 0, 200);
    const isFramed =
      /^[0-9a-f]{1,8};chunk-signature=[0-9a-f]{64}\r\n/.test(beginning) ||
      (isDeclared && /^[0-9a-f]{1,8}\r\n/.test(beginning));
    return isFramed ? { refusal: 'in the framing of aws-chunked, which is not part of it' } : {};
  }

  /** Whether the content is an HTML page, or perhaps one. @param mediaType the answer's Content-Type */
  weigh(mediaType: string | undefined): Objection {
    // Without its NULs and the bytes of a mark, UTF-16 and UTF-32 read like ASCII, which all tags are.
    const bytes = Buffer.concat(this.#chunks);
    const isMarked = this.first !== undefined && this.first >= 0xfe;
    const isWide = isMarked || bytes.includes(0);
    const beginning = (isWide ? bytes.filter((byte) => byte !== 0 && byte < 0xfe) : bytes).toString();
    let text = beginning;
    // Piece by piece: a repeated group would try every way to divide the text.
    for (let piece = prologPiece.exec(text); piece !== null; piece = prologPiece.exec(text))
      text = text.slice(piece[0].length);
    if (htmlTag.test(text)) return { refusal: htmlPage };
    if (/^\s*<\?xml/.test(beginning)) return {};
    if (errorPageTag.test(text)) return { refusal: htmlPage };
    const [tag, name = ''] = anyTag.exec(text) ?? [];
    if (tag === undefined) return {};
    const plain = name.toLowerCase();
    const isDeclared = /^(?:text\/html|application\/xhtml\+xml)$/.test(essenceOf(mediaType));
    // In XML that does not say that it is XML, and in other texts with tags, names with one capital letter are common.
    const isOfHtml = name === plain || name === name.toUpperCase();
    if (isDeclared && isOfHtml && ofHtml.test(plain)) return { refusal: htmlPage };
    const mayBeAPage = isDeclared || (isOfHtml && (ofPages.test(plain) || /^<body\s/i.test(text)));
    return mayBeAPage ? { doubt: doubts.likeAPage(plain) } : {};
  }
}
