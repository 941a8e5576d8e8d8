import { type Message, type TransformFailure, transformSync } from 'esbuild';

/** Where and why a text is not the JSON it should be; line and column count from 1. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly reason: string;
}

/** A text is not JSON, or names a member twice. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError';

  constructor(readonly faults: readonly JsonFault[]) {
    super(faults.map(({ line, column, reason }) => `line ${line}, column ${column}: ${reason}`).join('\n'));
  }
}

/**
 * Parses JSON text. esbuild's parser reads it first, because JSON.parse does not say the line on every Node, and
 * silently drops all but the last of members of one name: a second `clusters` would lose the first.
 * @throws JsonTextError
 */
export function parseJson(text: string): unknown {
  const plain = text.replace(/^\uFEFF/, '');
  const faults = faultsOf(plain);
  if (faults.length > 0) throw new JsonTextError(faults);
  return JSON.parse(plain);
}

function faultsOf(text: string): JsonFault[] {
  try {
    return transformSync(text, { loader: 'json', logLevel: 'silent', logLimit: 0 }).warnings.map(fault);
  } catch (error) {
    if (isFailure(error)) return error.errors.map(fault);
    throw error;
  }
}

function fault({ text, location }: Message): JsonFault {
  const { line, column, lineText } = location ?? { line: 1, column: 0, lineText: '' };
  // esbuild counts bytes.
  return { line, column: Buffer.from(lineText).subarray(0, column).toString().length + 1, reason: text };
}

function isFailure(error: unknown): error is TransformFailure {
  return typeof error === 'object' && error !== null && 'errors' in error && Array.isArray(error.errors);
}
