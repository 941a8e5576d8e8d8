/** Content-Type of JSON Lines: run records and seals. */
export const jsonLinesType = 'application/x-ndjson';

/** A CRC32 as S3 writes it in headers: four bytes, the highest first, in base64. */
export function checksumText(crc32: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32);
  return bytes.toString('base64');
}

/** The headers that a browser or an SDK goes by when it opens an object. */
export interface ContentHeaders {
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  /** Whether nothing is known of the object but its bytes: a file in a copy that was made without metadata. */
  readonly isBare?: boolean | undefined;
}

/** What is wrong with an object's headers; undefined if nothing is. They can only change if somebody rewrites the object. */
export function headersProblem(found: ContentHeaders, written: ContentHeaders): string | undefined {
  if (found.isBare === true) return undefined;
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
  // Nearly all of them.
  if (encoding === 'gzip') return encoding;
  const codings = (encoding ?? '').split(',').map((coding) => coding.trim());
  return codings.filter((coding) => coding !== '' && coding !== 'aws-chunked').join(',') || undefined;
}

function quote(value: string | undefined): string {
  return value === undefined ? 'not set' : JSON.stringify(value);
}
