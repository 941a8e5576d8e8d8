import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { printParseErrorCode, visit } from 'jsonc-parser';
import * as z from 'zod';
import type { ConfigProblem } from '../../archive/format/schema-problems';

/**
 * Reads a configuration, or a list of clusters. The path of a problem is empty, or names line and column.
 * @param expected completes the message of a file that is missing
 */
export function readJsonFile(path: string, expected: string): { value: unknown } | { problems: ConfigProblem[] } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const code = codeOf(error);
    const received = code === 'ENOENT' ? 'no file' : `a file that cannot be read (${code})`;
    return { problems: [{ path: '', received, expected }] };
  }
  const problems = syntaxFaults(text).map((fault) => syntaxProblem(text, fault));
  return problems.length > 0 ? { problems } : { value: JSON.parse(text) };
}

interface SyntaxFault {
  /** In UTF-16 code units. */
  readonly offset: number;
  readonly fault: string;
}

/**
 * What is wrong with a JSON text. JSON.parse decides, but it does not name the line on every Node, and of two members of one
 * name it silently drops the first.
 */
function syntaxFaults(text: string): SyntaxFault[] {
  let decided: string | undefined;
  try {
    JSON.parse(text);
  } catch (error) {
    decided = (error as Error).message;
  }
  const errors: SyntaxFault[] = [];
  const repeated: SyntaxFault[] = [];
  const members: Set<string>[] = [];
  try {
    visit(
      text,
      {
        onObjectBegin: () => void members.push(new Set()),
        onObjectEnd: () => void members.pop(),
        onObjectProperty: (name, offset) => {
          const known = members.at(-1);
          if (known?.has(name)) repeated.push({ offset, fault: `a second member ${JSON.stringify(name)}` });
          known?.add(name);
        },
        onError: (code, offset) => void errors.push({ offset, fault: inWords(printParseErrorCode(code)) }),
      },
      { disallowComments: true },
    );
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ offset: 0, fault: 'it is nested too deeply' }];
  }
  // What follows the first error follows from it.
  return decided === undefined ? repeated : [errors[0] ?? { offset: 0, fault: decided }];
}

/** `PropertyNameExpected` as words. */
function inWords(code: string): string {
  return code.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

function syntaxProblem(text: string, { offset, fault }: SyntaxFault): ConfigProblem {
  const before = text.slice(0, offset).split('\n');
  const expected = 'valid JSON with each member once';
  return {
    path: `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`,
    received: `invalid JSON (${fault})`,
    expected,
  };
}

/**
 * A PEM file that the configuration names, with certificates and nothing secret: their text.
 * @param folder that its name is relative to
 */
export function certificateFile(folder: string, description: string) {
  return z
    .string('the path of a PEM file')
    .min(1, 'the path of a PEM file')
    .describe(description)
    .transform((file, context) => {
      const read = readCertificates(resolve(folder, file), new Date());
      if ('pem' in read) return read.pem;
      const message = `a PEM file with certificates that have not expired (${read.fault})`;
      context.addIssue({ code: 'custom', message, input: file });
      return z.NEVER;
    });
}

/** Certificates as PEM text, or why the file cannot be used. */
export type Certificates = { readonly pem: string } | { readonly fault: string };

/** Reads a PEM file that holds certificates and nothing secret. */
export function readCertificates(path: string, now: Date): Certificates {
  const file = basename(path);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { fault: `${path} cannot be read: ${codeOf(error)}` };
  }
  if (/PRIVATE KEY-----/.test(text))
    return { fault: `${file} holds a private key, which would be deployed with the function` };
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return { fault: `${file} holds no PEM certificate` };
  for (const [index, block] of blocks.entries()) {
    const fault = faultOf(block, now);
    if (fault !== undefined) return { fault: `certificate ${index + 1} of ${file} ${fault}` };
  }
  return { pem: `${blocks.join('\n')}\n` };
}

function faultOf(block: string, now: Date): string | undefined {
  try {
    const { subject, validTo } = new X509Certificate(block);
    return new Date(validTo) < now ? `(${subject.replace(/\n/g, ', ')}) expired on ${validTo}` : undefined;
  } catch {
    return 'cannot be parsed';
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
