import type { ObjectHead } from './archive-reader';

/** The headers that a browser or an SDK goes by when it opens an object. */
export type ContentHeaders = Pick<ObjectHead, 'contentType' | 'contentEncoding'>;

/** What is wrong with an object's headers; undefined if nothing is. They can only change if somebody rewrites the object. */
export function headersProblem(found: ContentHeaders, written: ContentHeaders): string | undefined {
  const problems: string[] = [];
  if (found.contentType !== written.contentType)
    problems.push(
      `its Content-Type is ${quote(found.contentType)}, the collector writes ${quote(written.contentType)}`,
    );
  if (withoutChunking(found.contentEncoding) !== written.contentEncoding)
    problems.push(
      `its Content-Encoding is ${quote(found.contentEncoding)}, the collector writes ${quote(written.contentEncoding)}`,
    );
  return problems.length === 0 ? undefined : problems.join('; ');
}

/** `aws-chunked` names how an object was sent. S3 takes it away before it stores the header; not every copy of S3 does. */
function withoutChunking(encoding: string | undefined): string | undefined {
  const codings = (encoding ?? '').split(',').map((coding) => coding.trim());
  return codings.filter((coding) => coding !== '' && coding !== 'aws-chunked').join(',') || undefined;
}

function quote(value: string | undefined): string {
  return value === undefined ? 'not set' : JSON.stringify(value);
}
