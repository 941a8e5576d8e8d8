import { type Message, type TransformFailure, transformSync } from 'esbuild';

/** Where and why a text is not valid JSON; line and column count from 1. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly reason: string;
}

/** A text is not JSON, or has a member twice. */
export class JsonTextError extends Error {
  override readonly name = 'JsonTextError';

  constructor(readonly faults: readonly JsonFault[]) {
    super(faults.map(({ line, column, reason }) => `line ${line}, column ${column}: ${reason}`).join('\n'));
  }
}

/**
 * Parses JSON text. esbuild's parser reads it first, for two reasons: JSON.parse does not name the line on every Node, and
 * of two members of one name it silently drops the first.
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
  // esbuild counts the column in bytes.
  return { line, column: Buffer.from(lineText).subarray(0, column).toString().length + 1, reason: text };
}

function isFailure(error: unknown): error is TransformFailure {
  return typeof error === 'object' && error !== null && 'errors' in error && Array.isArray(error.errors);
}
