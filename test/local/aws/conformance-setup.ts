import type { PolicyDocument } from '../../../local/aws/iam/authorize';

/** Of the caller that may do everything. */
export const everythingPolicy: PolicyDocument = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }],
};

export function writerPolicy(bucket: string): PolicyDocument {
  const arn = `arn:aws:s3:::${bucket}`;
  return {
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Action: 's3:PutObject', Resource: `${arn}/logs/*` },
      { Effect: 'Allow', Action: 's3:GetObject', Resource: `${arn}/readable/*` },
      // Holds only for a listing of this prefix: not for the question whether an object is there.
      {
        Effect: 'Allow',
        Action: 's3:ListBucket',
        Resource: arn,
        Condition: { StringLike: { 's3:prefix': 'readable/*' } },
      },
    ],
  };
}

export function guardedBucketPolicy(bucket: string): PolicyDocument {
  const objects = `arn:aws:s3:::${bucket}/*`;
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:PutObject',
        Resource: objects,
        Condition: { Null: { 's3:if-none-match': 'true' } },
      },
      { Effect: 'Deny', Principal: '*', Action: 's3:DeleteObject', Resource: objects },
      // As every stack writes it; the loopback must pass for TLS.
      {
        Effect: 'Deny',
        Principal: { AWS: '*' },
        Action: 's3:*',
        Resource: [`arn:aws:s3:::${bucket}`, objects],
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
    ],
  };
}
