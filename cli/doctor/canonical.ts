import { isDeepStrictEqual } from 'node:util';
import type { Facts } from './guard';

/** AWS writes one policy in several ways. Two that mean the same have the same text here. */

type Json = Readonly<Record<string, unknown>>;

/** @param arnOfRole the ARN of a role by its unique id, which S3 and KMS show of a role that was deleted and, now and then, of one that was not */
export type ArnOfRole = ReadonlyMap<string, string>;

/** The statements of a policy, by their Sid; one without has no name but its own text. */
export function statementFacts(document: unknown, arnOfRole: ArnOfRole, prefix = ''): Facts {
  const { Statement } = (document ?? {}) as { Statement?: unknown };
  const statements = Statement === undefined ? [] : [Statement].flat();
  return Object.fromEntries(
    statements.map((statement) => {
      const { Sid, ...rest } = statement as Json;
      const text = canonicalStatement(rest, arnOfRole);
      return [`${prefix}${typeof Sid === 'string' && Sid !== '' ? Sid : text}`, text];
    }),
  );
}

function canonicalStatement(statement: Json, arnOfRole: ArnOfRole): string {
  const members = Object.entries(statement).map(([member, value]) => {
    if (/^(Not)?Principal$/.test(member)) return [member, principals(value, arnOfRole)];
    // Action, Resource, and what negates them; the order in such a list means nothing.
    if (member !== 'Condition') return [member, sortedList(value)];
    return [member, conditions(value)];
  });
  return textOf(Object.fromEntries(members));
}

function principals(value: unknown, arnOfRole: ArnOfRole): unknown {
  const byType = typeof value === 'string' ? { AWS: value } : (value as Json);
  return Object.fromEntries(
    Object.entries(byType).map(([type, names]) => [
      type,
      sortedList([names].flat().map((name) => (type === 'AWS' ? principal(String(name), arnOfRole) : name))),
    ]),
  );
}

function principal(name: string, arnOfRole: ArnOfRole): string {
  if (/^\d{12}$/.test(name)) return `arn:aws:iam::${name}:root`;
  return arnOfRole.get(name) ?? name;
}

/** Operator, then key, then values: those of a key are a set, and IAM reads numbers and truth values as text. */
function conditions(value: unknown): unknown {
  const operators = Object.entries((value ?? {}) as Readonly<Record<string, Json>>);
  return Object.fromEntries(
    operators.map(([operator, keys]) => [
      operator,
      Object.fromEntries(Object.entries(keys).map(([key, values]) => [key, sortedList(values)])),
    ]),
  );
}

function sortedList(value: unknown): unknown {
  const list = [...new Set([value].flat().map((one) => (typeof one === 'object' ? textOf(one) : String(one))))].sort();
  return list.length === 1 ? list[0] : list;
}

/** JSON with sorted members, without those that are undefined or empty, which AWS may leave out. */
export function textOf(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? 'nothing';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, sorted(member)] as const)
    .filter(([, member]) => member !== undefined && member !== '' && !isDeepStrictEqual(member, {}))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members);
}
