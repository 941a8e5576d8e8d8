import { XMLBuilder } from 'fast-xml-parser';
import { type Answer, AwsError } from '../call';

const builder = new XMLBuilder({ attributeNamePrefix: '@', ignoreAttributes: false });

/** A document with one root element; an array becomes repeated elements, a name beginning with `@` an attribute. */
export function toXml(root: string, content: Readonly<Record<string, unknown>>): string {
  const text: string = builder.build({ [root]: content });
  // Keys may hold control characters, which XML has only as references.
  const escaped = text.replace(/\p{Cc}/gu, (c) => `&#x${c.charCodeAt(0).toString(16)};`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${escaped}`;
}

/** An error as S3 writes it. */
export function s3ErrorAnswer({ status, code, message, headers }: AwsError, requestId: string): Answer {
  return {
    status,
    headers: { ...headers, 'content-type': 'application/xml' },
    body: toXml('Error', { Code: code, Message: message, RequestId: requestId }),
  };
}

/** @param what is not built here: an operation, a header, a parameter */
export function notImplemented(what: string): AwsError {
  return new AwsError(501, 'NotImplemented', `The embedded endpoint does not know ${what}`);
}
