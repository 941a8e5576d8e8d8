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
