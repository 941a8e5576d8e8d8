import type { Content } from './cluster-source';

/** The content is no text, and JSON carries text only. */
export class InvalidTextError extends Error {
  override readonly name = 'InvalidTextError';
}

/**
 * The content as one JSON string, piece by piece, so that a log of any length passes through.
 * @throws InvalidTextError if a stream's bytes are not UTF-8
 */
export async function* jsonString(content: Content): AsyncGenerator<string> {
  yield '"';
  for await (const text of textOf(content)) {
    yield JSON.stringify(text).slice(1, -1);
  }
  yield '"';
}

/**
 * Reads a content to its end.
 * @throws InvalidTextError if a stream's bytes are not UTF-8
 */
export async function assertText(content: Content): Promise<void> {
  for await (const _ of textOf(content)) {
    // Only whether it ends without an error matters.
  }
}

async function* textOf(content: Content): AsyncGenerator<string> {
  if (typeof content === 'string') {
    yield content;
    return;
  }
  // A byte order mark is content like any other: what is served must come back byte for byte.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for await (const chunk of content as AsyncIterable<Buffer | string>) {
    yield typeof chunk === 'string' ? chunk : decode(() => decoder.decode(chunk, { stream: true }));
  }
  yield decode(() => decoder.decode());
}

function decode(read: () => string): string {
  try {
    return read();
  } catch (cause) {
    throw new InvalidTextError('the bytes are not valid UTF-8, and a JSON string carries nothing else', { cause });
  }
}
