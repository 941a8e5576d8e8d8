import { readTime } from './object-metadata';
import { count, outcomeSchema, sha256, time } from './run-record';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';

/** By the schemas that nearly all members have. */
const checks = new Map<unknown, Check>([
  [count, (value) => Number.isSafeInteger(value) && (value as number) >= 0],
  [sha256, (value) => isText(value) && /^[0-9a-f]{64}$/.test(value as string)],
  [time, (value) => isText(value) && readTime(value as string) !== undefined],
]);

type Member = (typeof outcomeSchema.shape)[keyof typeof outcomeSchema.shape];

/** Undefined: it is judged by the schema alone. */
function checkOf(member: Member): Check | undefined {
  const schema = member.def.type === 'optional' ? member.def.innerType : member;
  const { def } = schema;
  if (def.type === 'enum') {
    const values: readonly unknown[] = Object.values(def.entries);
    return (value) => values.includes(value);
  }
  const isAnyText = def.type === 'string' && def.checks === undefined;
  return isAnyText ? isText : checks.get(schema);
}

const members = new Map(Object.entries(outcomeSchema.shape).map(([name, member]) => [name, checkOf(member)]));

const required = Object.entries(outcomeSchema.shape).flatMap(([name, { def }]) =>
  def.type === 'optional' ? [] : name,
);

/**
 * Whether an outcome is valid and has no other members, as nearly all are: a schema takes longer than to parse them. False says
 * nothing: then the schema decides.
 */
export function isPlainOutcome(json: unknown): boolean {
  if (typeof json !== 'object' || json === null) return false;
  const outcome = json as Record<string, unknown>;
  for (const name in outcome) if (members.get(name)?.(outcome[name]) !== true) return false;
  return required.every((name) => outcome[name] !== undefined);
}
