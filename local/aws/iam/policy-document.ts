import * as z from 'zod';
import { conditionOperators } from './condition-operators';

/*
 * Policies as IAM and CloudFormation write them, every intrinsic resolved, read into lists wherever there may be one or
 * many. Everything is strict: to guess what an unknown element means could allow what the cloud denies. NotAction,
 * NotResource and NotPrincipal are not known here.
 */
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
  /** By operator, then by condition key. */
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

/** A policy of a role or a user. */
export const rolePolicySchema = documentOf(ofRole);
export type RolePolicy = z.output<typeof rolePolicySchema>;

/** A policy of a bucket, a key, a topic or a queue. */
export const resourcePolicySchema = documentOf(ofResource);
export type ResourcePolicy = z.output<typeof resourcePolicySchema>;

/** Who may assume a role. */
export const trustPolicySchema = documentOf(ofResource.omit({ Resource: true }));

export interface Statement extends z.output<typeof ofRole> {
  /** Undefined: of a role, to which it applies. */
  readonly Principal?: z.output<typeof ofResource>['Principal'];
}
