import { doubts, type Verdict } from './doubts';
import { signOf } from './error-members';
import { JsonContent } from './json-content';

/** What programs write in place of a value that they do not have. */
const noValue = /^(?:null|undefined|\[object \w+\])$/;
const perhapsNoValue = /^(?:none|nil|<nil>|\(null\)|nan|-?infinity|true|false|-?\d+|""|''|\{\s*\}|\[\s*\])$/i;

/** Longest text that is taken for a line with an error message, in UTF-16 code units. */
const longestLine = 300;

const errorWords =
  /\b(?:errors?|exception|unauthori[sz]ed|forbidden|denied|not (?:found|allowed|acceptable|implemented)|bad (?:request|gateway)|unavailable|time-?out|timed out|upstream|too many requests|rate limit|expired|40[0134]|50[0234])\b/i;

/** Name of the first member of YAML, behind comments and the mark of a document. */
const firstYamlMember = /^(?:(?:---|#.*)\s+)*(["']?)([\w.-]+)\1\s*:(?:\s|$)/;

/** Judges a short text: whether it is a placeholder, a message of one line, or an error document in YAML. */
export function judgeErrorText(text: string): Verdict {
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
export function endsWithError(ending: string): boolean {
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
