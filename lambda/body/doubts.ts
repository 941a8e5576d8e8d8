/**
 * Every doubt that the collector has, in words. A body with a doubt is archived: it may be right, and it may be wrong, and no
 * rule can tell. The doubt goes into the outcome and the object's metadata (docs/service-contract.md).
 */
export const doubts = {
  /** Of a log record (log-record.ts, record-evidence.ts). */
  noOwnMember: (names: string) => `it has none of ${names}`,
  errorBesideRecord: (name: string) => `it has ${name} beside metadata, spec and status`,
  signOfAnother: (sign: string) => `it has ${sign}, and neither spec.clusterUid nor spec.log`,
  logNotUtf8: 'spec.log has bytes that are not UTF-8',
  recordedInPart: (path: string, characters: number) =>
    `${path} is longer than ${characters} characters and recorded in part`,

  /** Of a manifest, whatever it is written in (manifest-content.ts; markup.ts knows what it begins like). */
  notUtf8: 'it has bytes that are not UTF-8',
  zeroBytes: 'it has bytes of value 0, which no text has',
  markup: (what: string) => `it begins like ${what}`,
  xmlCutShort: 'it is XML that ends too early',
  errorAtEnd: 'its last line is an error',

  /** Of a short manifest (manifest-content.ts). */
  holdsNothing: 'it is a single value that holds nothing',
  errorLine: 'it is one line that reads like an error message',
  yamlError: 'it begins like an error document, in YAML',

  /** Of a manifest in JSON (json-content.ts), or that should be JSON (manifest.ts). */
  jsonCutShort: 'it is JSON that ends too early',
  jsonFollowed: 'something follows its JSON',
  listOfErrors: 'it may be a list of errors',
  errorMember: (name: string) => `it has the member ${name}`,
  notJson: 'it begins like JSON and is none, under a JSON media type',
} as const;

/** What content is judged to be instead of what was asked for, certainly or perhaps, as part of a sentence. */
export interface Verdict {
  readonly refusal?: string;
  readonly doubt?: string;
}
