import { isUtf8 } from 'node:buffer';
import type { BodyFacts } from '../resources';
import { type BodyCheck, InvalidBodyError, type Quote } from './body-check';
import { doubts, type Verdict } from './doubts';
import { signOf } from './error-members';
import { wholeCharacters } from './json/whole-characters';
import { JsonContent } from './json-content';
import { Markup } from './markup';

/** Longest content that is judged as a text, in bytes: errors are short. */
const longestErrorText = 4096;

/** How much of the content's end is judged, in bytes: enough for the end tag of XML, or for an appended error. */
const endingBytes = 1024;

/**
 * The bytes of white space, and of other characters that nobody sees, as UTF-8 writes them. An error behind them is an error
 * all the same, so they are skipped where content is judged; what is stored keeps them. Bytes and not characters: it does not
 * matter where the content is split.
 */
const blankBytes = new Set(Buffer.from('\t\n\v\f\r \u0085\u00a0\u200b\u2028\u2029\u3000\ufeff'));

/** What programs write in place of a value that they do not have. */
const noValue = /^(?:null|undefined|\[object \w+\])$/;
const perhapsNoValue = /^(?:none|nil|<nil>|\(null\)|nan|-?infinity|true|false|-?\d+|""|''|\{\s*\}|\[\s*\])$/i;

/** Longest text that is taken for a line with an error message, in UTF-16 code units. */
const longestLine = 300;

const errorWords =
  /\b(?:errors?|exception|unauthori[sz]ed|forbidden|denied|not (?:found|allowed|acceptable|implemented)|bad (?:request|gateway)|unavailable|time-?out|timed out|upstream|too many requests|rate limit|expired|40[0134]|50[0234])\b/i;

/** Name of the first member of YAML, behind comments and the mark of a document. */
const firstYamlMember = /^(?:(?:---|#.*)\s+)*(["']?)([\w.-]+)\1\s*:(?:\s|$)/;

/**
 * Judges the content that is to be stored as a manifest. All that is known of a manifest is that it is a string, so
 * content is refused only if it can be nothing but an error, or nothing at all. What is not certain becomes a doubt.
 */
export class ManifestContent implements BodyCheck {
  readonly isAsReceived = true;
  readonly #json: JsonContent;
  readonly #markup = new Markup();
  readonly #beginning: Buffer[] = [];
  #ending: Buffer = Buffer.alloc(0);
  #isEmpty = true;
  #isUtf8 = true;
  /** The beginning of a character whose end is still to come. */
  #cut: Buffer = Buffer.alloc(0);
  #hasNul = false;
  /** Bytes from the first one that shows something on, and up to the last one that does. */
  #length = 0;
  #visibleLength = 0;

  constructor(quote: Quote) {
    this.#json = new JsonContent(quote);
  }

  /** The first byte that shows something. */
  get first(): number | undefined {
    return this.#beginning[0]?.[0];
  }

  write(content: Buffer): Buffer {
    this.#isEmpty &&= content.length === 0;
    const bytes = this.#cut.length === 0 ? content : Buffer.concat([this.#cut, content]);
    const whole = wholeCharacters(bytes);
    this.#isUtf8 &&= isUtf8(whole);
    // Copied, because the caller may use the chunk again.
    this.#cut = Buffer.from(bytes.subarray(whole.length));
    this.#hasNul ||= content.includes(0);
    // What stands behind blank bytes is judged as if it stood at the beginning, however many they are.
    const from = this.#length > 0 ? 0 : content.findIndex((byte) => !blankBytes.has(byte));
    if (from !== -1) this.#judge(content.subarray(from));
    return content;
  }

  /**
   * Call this after the last content.
   * @param doubt about how it came
   * @throws InvalidBodyError if the content is certainly no manifest
   */
  end(doubt?: string): BodyFacts {
    const isUtf8 = this.#isUtf8 && this.#cut.length === 0;
    if (this.#isEmpty) throw new InvalidBodyError('The manifest is empty');
    if (this.#length === 0 && isUtf8) throw new InvalidBodyError('The manifest is nothing but whitespace');
    this.#json.end();
    const markup = this.#markup.verdict;
    const isText = this.#visibleLength <= longestErrorText;
    const text = isText ? judgeErrorText(Buffer.concat(this.#beginning).toString('utf8')) : {};
    const json = this.#json.verdict;
    const refusal = markup.refusal ?? text.refusal ?? json.refusal;
    if (refusal !== undefined) throw new InvalidBodyError(`The manifest is ${refusal}`);
    const ending = this.#ending.toString('latin1');
    const found = [
      doubt,
      isUtf8 ? undefined : doubts.notUtf8,
      this.#hasNul ? doubts.zeroBytes : undefined,
      markup.doubt,
      this.#markup.isCutShort(ending) ? doubts.xmlCutShort : undefined,
      text.doubt,
      endsWithError(ending) ? doubts.errorAtEnd : undefined,
      json.doubt,
    ].filter((one) => one !== undefined);
    return found.length === 0 ? {} : { doubt: found.join('; ') };
  }

  #judge(content: Buffer): void {
    const missing = longestErrorText - this.#length;
    // Copied, because the caller may use the chunk again.
    if (missing > 0) this.#beginning.push(Buffer.from(content.subarray(0, missing)));
    this.#ending = Buffer.concat([this.#ending, content.subarray(-endingBytes)]).subarray(-endingBytes);
    const visible = content.findLastIndex((byte) => !blankBytes.has(byte)) + 1;
    if (visible > 0) this.#visibleLength = this.#length + visible;
    this.#length += content.length;
    this.#markup.write(content);
    this.#json.write(content);
  }
}

/** Judges a short text: whether it is a placeholder, a message of one line, or an error document in YAML. */
function judgeErrorText(text: string): Verdict {
  const trimmed = text.trim();
  if (noValue.test(trimmed)) return { refusal: `${trimmed}, which stands for no value` };
  if (perhapsNoValue.test(trimmed)) return { doubt: doubts.holdsNothing };
  const isLine = trimmed.length <= longestLine && !/[\n\r<{]/.test(trimmed);
  if (isLine && errorWords.test(trimmed)) return { doubt: doubts.errorLine };
  return isYamlError(trimmed) || isKubernetesStatus(trimmed) ? { doubt: doubts.yamlError } : {};
}

/**
 * Whether the last of several lines is an error document in JSON or the end of an HTML page. A service that has begun its
 * answer and then fails cannot change the status any more, so some append the error.
 * @param ending the last part of a text
 */
function endsWithError(ending: string): boolean {
  const [, line = ''] = /[\r\n](<.*|\{.*)$/.exec(ending.trimEnd()) ?? [];
  return line.startsWith('<') ? /<\/html>$/i.test(line) : isJsonError(line);
}

function isJsonError(line: string): boolean {
  const json = new JsonContent((text) => text);
  json.write(Buffer.from(line, 'latin1'));
  json.end();
  return json.verdict.refusal !== undefined;
}

/** An error begins with what went wrong; a manifest with what it is. */
function isYamlError(text: string): boolean {
  const [, , name = ''] = firstYamlMember.exec(text) ?? [];
  return signOf(name, 'string') !== undefined;
}

/** Whether YAML is the object by which a Kubernetes API says why it cannot answer. */
function isKubernetesStatus(text: string): boolean {
  return /^kind:[ \t]*["']?Status["']?[ \t\r]*$/m.test(text) && /^apiVersion:[ \t]*["']?v1["']?[ \t\r]*$/m.test(text);
}
