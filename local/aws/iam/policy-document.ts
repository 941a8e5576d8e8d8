import { isConditionOperator } from './condition-operators';

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

const documentElements = ['Version', 'Statement'];
const statementElements = ['Sid', 'Effect', 'Principal', 'Action', 'Resource', 'Condition'];
const principalTypes = ['AWS', 'Service'];

/**
 * The statements of a policy, every element of which is known.
 * @param kind whether the policy belongs to a role or to a resource
 * @throws UnknownPolicyElementError naming the element, the statement and what to write instead
 */
export function statementsOf(policy: PolicyDocument, kind: 'identity' | 'resource'): readonly PolicyStatement[] {
  checkNames(policy, documentElements, 'the policy');
  const statements = asArray(policy.Statement) as readonly PolicyStatement[];
  for (const [index, statement] of statements.entries()) checkStatement(statement, kind, index);
  return statements;
}

export function asArray<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as T];
}

function checkStatement(statement: PolicyStatement, kind: 'identity' | 'resource', index: number): void {
  const where = `statement ${statement?.Sid ?? index + 1}`;
  checkNames(statement, statementElements, where);
  const { Effect, Principal, Action, Resource, Condition = {} } = statement;
  if (Effect !== 'Allow' && Effect !== 'Deny') throw unknown('Effect', Effect, where, 'Allow or Deny');
  checkTexts('Action', Action, where);
  checkTexts('Resource', Resource, where);
  if ((Principal !== undefined) !== (kind === 'resource'))
    throw unknown('Principal', Principal, where, kind === 'resource' ? 'a principal' : 'none in a role');
  if (Principal !== undefined) checkPrincipal(Principal, where);
  for (const [operator, keys] of Object.entries(Condition)) {
    if (!isConditionOperator(operator)) throw unknown('condition operator', operator, where, 'an operator known here');
    for (const [key, values] of Object.entries(keys)) {
      if (asArray(values).length === 0) throw unknown(`values of ${key}`, values, where, 'at least one value');
      for (const value of asArray(values)) checkValue(value, `value of ${key}`, where);
    }
  }
}

function checkPrincipal(principal: NonNullable<PolicyStatement['Principal']>, where: string): void {
  if (principal === '*') return;
  checkNames(principal, principalTypes, `the principal of ${where}`);
  for (const name of Object.values(principal).flatMap((names) => asArray(names))) {
    checkValue(name, 'principal', where);
    // IAM itself rejects a pattern here; only the lone asterisk means anyone.
    if (name !== '*' && /[*?]/.test(name)) throw unknown('principal', name, where, 'a whole ARN, an account or *');
  }
}

function checkTexts(element: string, texts: OneOrMany, where: string): void {
  if (asArray(texts).length === 0) throw unknown(element, texts, where, 'at least one');
  for (const text of asArray(texts)) {
    if (typeof text !== 'string') throw unknown(element, text, where, 'text');
    checkValue(text, element, where);
  }
}

function checkValue(value: unknown, element: string, where: string): void {
  if (typeof value === 'object' || value === undefined) throw unknown(element, value, where, 'a resolved value');
  if (String(value).includes('${')) throw unknown(`policy variable in ${element}`, value, where, 'no variable');
}

function checkNames(value: unknown, names: readonly string[], where: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw unknown('form', value, where, 'an object');
  for (const name of Object.keys(value))
    if (!names.includes(name)) throw unknown('element', name, where, names.join(', '));
}

function unknown(element: string, received: unknown, where: string, expected: string): UnknownPolicyElementError {
  return new UnknownPolicyElementError(
    `Evaluating ${where} of a policy failed: unknown ${element} ${JSON.stringify(received)}; expected ${expected}`,
  );
}
