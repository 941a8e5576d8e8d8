/**
 * Every doubt that the collector has of a body by itself, in words; the one that comes from another answer is in
 * archive/format/late-doubt.ts. A body with a doubt is archived: it may be right, and it may be wrong, and no
 * rule can tell. The doubt goes into the outcome and the object's metadata (docs/service-contract.md).
 */
export const doubts = {
  /** Of any answer (service/answer-head.ts and answer-end.ts, media-type.ts, continuation.ts, utf8-check.ts). */
  old: (what: string) => `it is an old answer, out of a cache (${what})`,
  ignoredCoding: (names: string) => `its Content-Encoding says ${names}, which is not a coding of a body`,
  severalDocuments: (essence: string) => `its media type is ${essence}, of several documents in one body`,
  goesOn: (name: string) => `it says that there is more: ${name}`,
  notUtf8: 'it has bytes that are not UTF-8',
  trailers: (names: string) => `it has trailers behind its body: ${names}`,

  /** Of a log record (log-record.ts, error-members.ts). */
  noOwnMember: (names: string) => `it has none of ${names}`,
  errorBesideRecord: (name: string) => `it has ${name} beside metadata, spec and status`,
  signOfAnother: (sign: string) => `it has ${sign}, and neither spec.clusterUid nor spec.log`,

  /** Of a manifest (manifest-content.ts, content-beginning.ts, yaml-members.ts, json-content.ts, manifest.ts). */
  nul: 'it has bytes of value 0: it may be UTF-16, UTF-32 or not text',
  charset: (name: string) => `its charset is ${name}`,
  likeAPage: (tag: string) => `it begins like an HTML page, with the tag ${tag}`,
  hasStatus: 'one of its documents is of kind Status',
  jsonCutShort: 'it is JSON that ends too early',
  errorMember: (name: string) => `it has the member ${name}`,
  notJson: 'it is declared as JSON and starts like JSON, but is not valid JSON',
} as const;

/** What content is judged to be instead of what was asked for, certainly or perhaps, as part of a sentence. */
export interface Objection {
  readonly refusal?: string;
  readonly doubt?: string;
}
