import { XMLBuilder } from 'fast-xml-parser';

const builder = new XMLBuilder({ attributeNamePrefix: '@', ignoreAttributes: false });

/** A document with one root element; an array becomes repeated elements, a name beginning with `@` an attribute. */
export function toXml(root: string, content: Readonly<Record<string, unknown>>): string {
  const text: string = builder.build({ [root]: content });
  // Keys may hold control characters, which XML has only as references.
  const escaped = text.replace(/\p{Cc}/gu, (c) => `&#x${c.charCodeAt(0).toString(16)};`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${escaped}`;
}
