/**
 * Where a collector is: in which stack, and in which construct of it. It imports nothing of CDK, because commands find the
 * collector by it.
 */
export interface StackAddress {
  readonly stack: string;
  /** With what the logical ids of its parts begin; empty for a stack that is nothing but a collector. */
  readonly place: string;
}

/** How `--stack` names it: `STACK`, or `STACK/PLACE`. */
export function addressText({ stack, place }: StackAddress): string {
  return place === '' ? stack : `${stack}/${place}`;
}

/** @param text as typed: {@link addressText}, or the ARN of a stack, which has slashes of its own */
export function parseAddress(text: string): StackAddress {
  const [stack = '', place = ''] = text.startsWith('arn:') ? [text] : text.split('/', 2);
  return { stack, place };
}

/** The beginning of a logical id, as CDK makes it of the ids of constructs (aws-cdk-lib, core/lib/private/uniqueid.js). */
export function logicalStart(ids: readonly string[]): string {
  const path: string[] = [];
  for (const id of ids) if (id !== 'Default' && !path.at(-1)?.endsWith(id)) path.push(id);
  const named = path.filter((id) => id !== 'Resource');
  return named.map((id) => id.replace(/[^A-Za-z0-9]/g, '')).join('');
}
