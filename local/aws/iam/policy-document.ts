import * as z from 'zod';
import { conditionOperators } from './condition-operators';

/** A policy as IAM and CloudFormation write it, every intrinsic resolved. */
export interface PolicyDocument {
  readonly Version?: string;
  readonly Statement: PolicyStatement | readonly PolicyStatement[];
}

/** NotAction, NotResource and NotPrincipal are not known here. */
export interface PolicyStatement {
  readonly Sid?: string;
  readonly Effect: 'Allow' | 'Deny';
  /** Required in a resource's policy, not allowed in a role's. */
  readonly Principal?: '*' | Readonly<Record<string, OneOrMany>>;
  readonly Action: OneOrMany;
  readonly Resource: OneOrMany;
  /** By operator, then by condition key. */
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, ConditionValue | readonly ConditionValue[]>>>>;
}

type OneOrMany = string | readonly string[];
type ConditionValue = string | number | boolean;

/** The policy holds something whose meaning is not known here; to guess could allow what the cloud denies. */
export class UnknownPolicyElementError extends Error {
  override readonly name = 'UnknownPolicyElementError';
}

const text = z.string().refine((value) => !value.includes('${'), 'a policy variable is not known here');
const conditionValue = z.preprocess(
  (value) => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : value),
  text,
);
const principal = text.refine((name) => name === '*' || !/[*?]/.test(name), {
  // IAM itself rejects a pattern here; only the lone asterisk means anyone.
  error: ({ input }) => `expected a whole ARN, an account or *, and not ${input}`,
});

/** @param item schema of one; IAM writes a list of one as its item */
function listOf<Item extends z.ZodType>(item: Item) {
  return z.preprocess((value) => (value === undefined ? [] : [value].flat()), z.array(item));
}

function someOf<Item extends z.ZodType>(item: Item) {
  return listOf(item).refine(({ length }) => length > 0, 'expected at least one');
}

const operator = z.enum(Object.keys(conditionOperators) as (keyof typeof conditionOperators)[]);

const ofRole = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(['Allow', 'Deny']),
  Action: someOf(text),
  Resource: someOf(text),
  Condition: z.partialRecord(operator, z.record(z.string(), someOf(conditionValue))).default({}),
});

const ofResource = ofRole.extend({
  Principal: z.preprocess(
    (value) => (value === '*' ? { AWS: '*' } : value),
    z.strictObject({ AWS: listOf(principal), Service: listOf(principal) }),
  ),
});

function documentOf<Statement extends z.ZodType>(statement: Statement) {
  return z.strictObject({ Version: z.string().optional(), Statement: listOf(statement) });
}

const schemas = { identity: documentOf(ofRole), resource: documentOf(ofResource) };

/** A statement with a list wherever there may be one or many. */
export interface Statement extends z.output<typeof ofRole> {
  /** Undefined: of a role, to which it applies. */
  readonly Principal?: z.output<typeof ofResource>['Principal'];
}

const known = { identity: new WeakMap<object, Statement[]>(), resource: new WeakMap<object, Statement[]>() };

/**
 * The statements of a policy, every element of which is known. It is read once, and must not change after that.
 * @param kind whether the policy belongs to a role or to a resource
 * @throws UnknownPolicyElementError naming the element and what was expected
 */
export function statementsOf(policy: PolicyDocument, kind: 'identity' | 'resource'): readonly Statement[] {
  const read = known[kind].get(policy);
  if (read !== undefined) return read;
  const parsed = schemas[kind].safeParse(policy);
  if (!parsed.success) throw new UnknownPolicyElementError(`Reading a policy failed: ${z.prettifyError(parsed.error)}`);
  known[kind].set(policy, parsed.data.Statement);
  return parsed.data.Statement;
}
