import { derTag } from '../../archive/format/der';

/** A DER element (ITU-T X.690). */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  if (content.length < 0x80) return Buffer.concat([Buffer.of(tag, content.length), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const shortest = length.subarray(length.findIndex((octet) => octet !== 0));
  return Buffer.concat([Buffer.of(tag, 0x80 + shortest.length), shortest, content]);
}

export const sequence = (...contents: readonly Uint8Array[]) => der(derTag.sequence, ...contents);
export const set = (...contents: readonly Uint8Array[]) => der(derTag.set, ...contents);
export const octets = (content: Uint8Array) => der(derTag.octetString, content);
export const context = (number: number, ...contents: readonly Uint8Array[]) => der(derTag.context(number), ...contents);
export const integer = (number: number) => der(derTag.integer, Buffer.of(number));
export const bits = (content: Uint8Array) => der(0x03, Buffer.of(0), content);
export const yes = der(derTag.boolean, Buffer.of(0xff));

/** @param name dotted */
export function oid(name: string): Buffer {
  const [root = 0, second = 0, ...others] = name.split('.').map(Number);
  const groups = (number: number): number[] =>
    number < 0x80 ? [number] : [...groups(Math.floor(number / 128)).map((group) => group | 0x80), number % 128];
  return der(derTag.oid, Buffer.from([root * 40 + second, ...others.flatMap(groups)]));
}

/** A GeneralizedTime of whole seconds. */
export function generalizedTime(time: Date): Buffer {
  return der(derTag.generalizedTime, Buffer.from(time.toISOString().replace(/[-:T]|\.\d+/g, '')));
}
