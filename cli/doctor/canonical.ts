import { isDeepStrictEqual } from 'node:util';
import type { Facts } from './guard';

/** AWS writes one policy in several ways. Two that mean the same have the same text here. */

type Json = Readonly<Record<string, unknown>>;

/** @param arnOfRole the ARN of a role by its unique id, which S3 and KMS show of a role that was deleted and, now and then, of one that was not */
export type ArnOfRole = ReadonlyMap<string, string>;

/** The statements of a policy, by their Sid; one without has no name but its own text. Where several have one Sid, the text is in the names too. */
export function statementFacts(document: unknown, arnOfRole: ArnOfRole, prefix = ''): Facts {
  const { Statement } = (document ?? {}) as { Statement?: unknown };
  const statements = Statement === undefined ? [] : [Statement].flat();
  const named = statements.map((statement) => {
    const { Sid, ...rest } = statement as Json;
    const text = canonicalStatement(rest, arnOfRole);
    return { name: `${prefix}${typeof Sid === 'string' && Sid !== '' ? Sid : text}`, text };
  });
  const facts = new Map<string, string>();
  // Sorted: who gets the Sid as its name does not depend on the order in the policy, which means nothing.
  for (const { name, text } of named.sort((one, other) => (one.text < other.text ? -1 : 1)))
    facts.set((facts.get(name) ?? text) === text ? name : `${name} ${text}`, text);
  return Object.fromEntries(facts);
}

/**
 * The statements of a policy, and the version of its language: by the older one, a variable such as `${aws:username}` is plain
 * text. A policy without statements has neither.
 */
export function policyFacts(document: unknown, arnOfRole: ArnOfRole, prefix = ''): Facts {
  const statements = statementFacts(document, arnOfRole, prefix);
  if (Object.keys(statements).length === 0) return {};
  const { Version = oldestVersion } = (document ?? {}) as { Version?: unknown };
  // Last: a statement may have the Sid "version".
  const name = `${prefix}version`;
  return { ...statements, [name in statements ? `${name} of the language` : name]: textOf(Version) };
}

/** What a policy is read as that names none. */
const oldestVersion = '2008-10-17';

function canonicalStatement(statement: Json, arnOfRole: ArnOfRole): string {
  const members = Object.entries(statement).map(([member, value]) => {
    if (/^(Not)?Principal$/.test(member)) return [member, principals(value, arnOfRole)];
    // Action, Resource, and what negates them; the order in such a list means nothing.
    if (member !== 'Condition') return [member, sortedList(value)];
    return [member, conditions(value)];
  });
  // A condition on an empty text is one: without it the statement is of other requests.
  return JSON.stringify(sorted(Object.fromEntries(members), () => true));
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
  const isKept = (member: unknown) => member !== undefined && member !== '' && !isDeepStrictEqual(member, {});
  return JSON.stringify(sorted(value, isKept)) ?? 'nothing';
}

function sorted(value: unknown, isKept: (member: unknown) => boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => sorted(one, isKept));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, sorted(member, isKept)] as const)
    .filter(([, member]) => isKept(member))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members);
}
