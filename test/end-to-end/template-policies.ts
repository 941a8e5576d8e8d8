import type { Template } from '../../local/deployment/stack-template';

/** As a template has it. */
interface PolicyStatement {
  readonly Sid?: string;
  readonly Effect: string;
  readonly Principal?: unknown;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

export type Statements = { Statement: PolicyStatement[] };

/** The policy document of the one resource of a type whose logical id begins so. */
export function policyOf(template: Template, type: string, prefix: string): Statements {
  const found = Object.entries(template.Resources).filter(([id, { Type }]) => Type === type && id.startsWith(prefix));
  if (found.length !== 1) throw new Error(`expected one ${type} ${prefix}*, found ${found.length}`);
  return found[0]?.[1].Properties?.PolicyDocument as Statements;
}

export const bucketPolicy = (template: Template) => policyOf(template, 'AWS::S3::BucketPolicy', 'ArchiveBucket');

/** What each statement is called, or allows, in order. */
export function statementsOf({ Statement }: Statements): string[] {
  return Statement.map(({ Sid, Action }) => Sid ?? String(Action)).sort();
}

/** Takes statements away, which must be there. */
export function without(policy: Statements, isBroken: (statement: PolicyStatement) => boolean): void {
  const kept = policy.Statement.filter((statement) => !isBroken(statement));
  if (kept.length === policy.Statement.length) throw new Error('the template has no such statement');
  policy.Statement = kept;
}

/** Takes an action away from the statements that allow it, or from those of them that are meant; there must be some. */
export function withoutAction(
  policy: Statements,
  action: string,
  isMeant: (statement: PolicyStatement) => boolean = () => true,
): void {
  const isBroken = (statement: PolicyStatement) => [statement.Action].flat().includes(action) && isMeant(statement);
  if (!policy.Statement.some(isBroken)) throw new Error(`the template does not allow ${action}`);
  policy.Statement = policy.Statement.map((statement) => {
    if (!isBroken(statement)) return statement;
    const Action = [statement.Action ?? []].flat().map((name) => (name === action ? 'sts:GetCallerIdentity' : name));
    return { ...statement, Action };
  });
}

export const withSid = (sid: string) => (statement: PolicyStatement) => statement.Sid === sid;
