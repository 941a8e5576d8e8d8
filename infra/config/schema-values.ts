import * as z from 'zod';

/**
 * Values that occur in several members of the configuration. Every message completes the sentence "expected …". Every
 * description goes into collector.schema.json, where editors show it.
 */

/** An object that rejects unknown members with a message that names the known ones. */
export function members<Shape extends z.core.$ZodShape>(shape: Shape) {
  const known = `one of ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? known : undefined) });
}

/** Turns a rule, which returns what it expects instead, into a refinement. */
export function refinement(rule: (text: string) => string | undefined) {
  return (input: string, context: z.core.$RefinementCtx): void => {
    const expected = rule(input);
    if (expected !== undefined) context.addIssue({ code: 'custom', input, message: expected });
  };
}

export function wholeNumber(least: number, most: number) {
  const expected = `a whole number from ${least} to ${most}`;
  return z.int(expected).min(least, expected).max(most, expected);
}

export function trueOrFalse() {
  return z.boolean('true or false');
}

/** Text of a form. */
export function textLike(pattern: RegExp, expected: string) {
  return z.string(expected).regex(pattern, expected);
}

export const accountId = textLike(/^\d{12}$/, 'the id of an account: 12 digits');

export const keyArn = textLike(
  /^arn:aws:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/,
  'the ARN of a KMS key, arn:aws:kms:<region>:<account>:key/<id>',
);

export const topicArn = textLike(
  /^arn:aws:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$/,
  'the ARN of a standard SNS topic, arn:aws:sns:<region>:<account>:<name>',
);

export const bucketArn = textLike(
  /^arn:aws:s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  'the ARN of a bucket, arn:aws:s3:::<name>',
);
