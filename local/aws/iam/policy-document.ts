import { isConditionOperator } from './condition-operators';

/** A policy as IAM and CloudFormation write it, every intrinsic resolved. */
export interface PolicyDocument {
  readonly Version?: string;
  readonly Id?: string;
  readonly Statement: PolicyStatement | readonly PolicyStatement[];
}

export interface PolicyStatement {
  readonly Sid?: string;
  readonly Effect: 'Allow' | 'Deny';
  /** Required in a bucket's policy, not allowed in a role's. */
  readonly Principal?: '*' | Readonly<Record<string, OneOrMany>>;
  readonly Action?: OneOrMany;
  readonly NotAction?: OneOrMany;
  readonly Resource?: OneOrMany;
  readonly NotResource?: OneOrMany;
  /** By operator, then by condition key. */
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, ConditionValue | readonly ConditionValue[]>>>>;
}

export type OneOrMany = string | readonly string[];

export type ConditionValue = string | number | boolean;

/** Who a policy is attached to. */
export type PolicyKind = 'identity' | 'resource';

/** The policy holds something whose meaning is not known here; to guess would be to allow. */
export class UnknownPolicyElementError extends Error {
  override readonly name = 'UnknownPolicyElementError';
}

const documentElements = ['Version', 'Id', 'Statement'];
const statementElements = [
  'Sid',
  'Effect',
  'Principal',
  'Action',
  'NotAction',
  'Resource',
  'NotResource',
  'Condition',
] as const;
const principalTypes = ['AWS', 'Service', 'Federated', 'CanonicalUser'];

/**
 * The statements of a policy, every element of which is known.
 * @throws UnknownPolicyElementError that names the element, the statement and what to write instead
 */
export function statementsOf(policy: PolicyDocument, kind: PolicyKind): readonly PolicyStatement[] {
  known(policy, documentElements, 'the policy');
  const { Statement } = policy;
  const statements = asArray(Statement) as readonly PolicyStatement[];
  for (const [index, statement] of statements.entries()) checkStatement(statement, kind, index);
  return statements;
}

export function asArray<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as T];
}

function checkStatement(statement: PolicyStatement, kind: PolicyKind, index: number): void {
  const where = `statement ${statement?.Sid ?? index + 1}`;
  known(statement, statementElements, where);
  if (statement.Effect !== 'Allow' && statement.Effect !== 'Deny')
    throw unknown('Effect', statement.Effect, where, 'Allow or Deny');
  oneOf(statement.Action, statement.NotAction, 'Action', where);
  oneOf(statement.Resource, statement.NotResource, 'Resource', where);
  if ((statement.Principal !== undefined) !== (kind === 'resource'))
    throw unknown('Principal', statement.Principal, where, kind === 'resource' ? 'a principal' : 'none in a role');
  if (statement.Principal !== undefined) checkPrincipal(statement.Principal, where);
  for (const [operator, keys] of Object.entries(statement.Condition ?? {})) {
    if (!isConditionOperator(operator)) throw unknown('condition operator', operator, where, 'an operator known here');
    for (const [key, values] of Object.entries(keys)) {
      if (asArray(values).length === 0) throw unknown(`values of ${key}`, values, where, 'at least one value');
      for (const value of asArray(values)) checkValue(value, `value of ${key}`, where);
    }
  }
}

function checkPrincipal(principal: NonNullable<PolicyStatement['Principal']>, where: string): void {
  if (principal === '*') return;
  known(principal, principalTypes, `the principal of ${where}`);
  for (const name of Object.values(principal).flatMap((names) => asArray(names))) {
    checkValue(name, 'principal', where);
    // IAM itself rejects a pattern here; only the lone asterisk means anyone.
    if (name !== '*' && /[*?]/.test(name)) throw unknown('principal', name, where, 'a whole ARN, an account or *');
  }
}

function oneOf(positive: OneOrMany | undefined, negative: OneOrMany | undefined, element: string, where: string): void {
  if ((positive === undefined) === (negative === undefined))
    throw unknown(element, positive, where, `either ${element} or Not${element}`);
  const values = asArray(positive ?? negative);
  if (values.length === 0) throw unknown(element, values, where, 'at least one');
  for (const value of values) {
    if (typeof value !== 'string') throw unknown(element, value, where, 'text');
    checkValue(value, element, where);
  }
}

function checkValue(value: unknown, element: string, where: string): void {
  if (typeof value === 'object' || value === undefined) throw unknown(element, value, where, 'a resolved value');
  if (String(value).includes('${')) throw unknown(`policy variable in ${element}`, value, where, 'no variable');
}

function known(value: unknown, elements: readonly string[], where: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw unknown('form', value, where, 'an object');
  for (const name of Object.keys(value))
    if (!elements.includes(name)) throw unknown('element', name, where, elements.join(', '));
}

function unknown(element: string, received: unknown, where: string, expected: string): UnknownPolicyElementError {
  return new UnknownPolicyElementError(
    `Evaluating ${where} of a policy failed: unknown ${element} ${JSON.stringify(received)}; expected ${expected}`,
  );
}
