import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minimal } from './example-config';
import { resourceOf, statementsOf, templateOf, textOf } from './example-stack';

const page = readFileSync(join(__dirname, '..', '..', 'docs', 'own-app.md'), 'utf8');

/** A value of the template as the page writes it. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('Fn::Join' in value || 'Fn::GetAtt' in value)
    return textOf(value).replace('<ArchiveBucket.Arn>', 'arn:aws:s3:::BUCKET').replace('<CollectorRole.Arn>', 'ROLE');
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

it('the statements for a bucket of your own are those that the stack deploys for its collector', () => {
  const [, published = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const policy = resourceOf(templateOf({ ...minimal, archive: {} }), 'AWS::S3::BucketPolicy', 'ArchiveBucketPolicy');
  const deployed = statementsOf(policy).filter(({ Sid }) => Sid !== undefined);
  expect(JSON.parse(published)).toEqual({ Version: '2012-10-17', Statement: deployed.map(plain) });
});
