import { JsonError } from '../../lambda/body/json/json-chunk';
import { JsonScanner } from '../../lambda/body/json/json-scanner';

/** Scans a document for its well-formedness alone; undefined if the scanner accepts it. */
export function scanJson(chunks: readonly Buffer[]): JsonError | undefined {
  const scanner = new JsonScanner(() => undefined);
  try {
    for (const chunk of chunks) scanner.write(chunk);
    scanner.end();
    return undefined;
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
}
