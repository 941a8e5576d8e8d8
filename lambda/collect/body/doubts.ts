/**
 * Every doubt that the collector has, in words. A body with a doubt is archived: it may be right, and it may be wrong, and no
 * rule can tell. The doubt goes into the outcome and the object's metadata (docs/service-contract.md).
 */
export const doubts = {
  /** Of any answer (service/answer-end.ts, utf8-check.ts). */
  notUtf8: 'it has bytes that are not UTF-8',
  trailers: (names: string) => `it has trailers behind its body: ${names}`,

  /** Of a log record (log-record.ts, error-members.ts). */
  noOwnMember: (names: string) => `it has none of ${names}`,
  errorBesideRecord: (name: string) => `it has ${name} beside metadata, spec and status`,
  signOfAnother: (sign: string) => `it has ${sign}, and neither spec.clusterUid nor spec.log`,

  /** Of a manifest (manifest-content.ts, json-content.ts, manifest.ts). */
  jsonCutShort: 'it is JSON that ends too early',
  errorMember: (name: string) => `it has the member ${name}`,
  notJson: 'it is declared as JSON and starts like JSON, but is not valid JSON',
} as const;

/** What content is judged to be instead of what was asked for, certainly or perhaps, as part of a sentence. */
export interface Verdict {
  readonly refusal?: string;
  readonly doubt?: string;
}
