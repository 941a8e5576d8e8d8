import { doubts, type Objection } from './doubts';

/** What a Content-Type names, in lower case and without parameters; empty if there is none. */
export function essenceOf(mediaType = ''): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** The charset that a Content-Type names, in lower case. */
export function charsetOf(mediaType = ''): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s;"']{1,40})/i.exec(mediaType)?.[1]?.toLowerCase();
}

/** What a Content-Type says of a body, whatever is in it: error documents, and bodies that are several documents. */
export function weighMediaType(mediaType: string | undefined): Objection {
  const essence = essenceOf(mediaType);
  if (/^application\/problem\+(?:json|xml)$/.test(essence)) return { refusal: `an error document (${essence})` };
  if (essence === 'text/event-stream' || essence.startsWith('multipart/'))
    return { doubt: doubts.severalDocuments(essence) };
  return {};
}
