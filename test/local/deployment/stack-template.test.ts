// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how Fn::Sub names its variables.
import * as z from 'zod';
import { StackTemplate, type Template } from '../../../local/deployment/stack-template';

const location = { stackName: 'demo', accountId: '111122223333', region: 'eu-central-1' };

/** Resolves one value as a property of a bucket. */
function resolve(value: unknown, others: Partial<Template> = {}): unknown {
  const template: Template = {
    ...others,
    Resources: { Subject: { Type: 'AWS::S3::Bucket', Properties: { Value: value } }, ...others.Resources },
  };
  const [subject] = new StackTemplate(template, location).resourcesOf('AWS::S3::Bucket');
  return subject?.read(z.object({ Value: z.unknown() })).Value;
}

const resources = {
  Archive: {
    Type: 'AWS::S3::Bucket',
    Properties: { BucketName: { 'Fn::Join': ['-', ['arch', { Ref: 'AWS::Region' }]] } },
  },
  Key: { Type: 'AWS::SecretsManager::Secret' },
};

describe('a template', () => {
  it.each<[string, unknown, string]>([
    [
      'an intrinsic',
      { 'Fn::GetAZs': '' },
      'Cannot resolve Fn::GetAZs at Subject.Value: a local deployment does not know it.',
    ],
    ['a resource', { Ref: 'Nobody' }, 'Cannot resolve Nobody: the template has no such resource.'],
    ['a variable of Fn::Sub', { 'Fn::Sub': '${Archive.Arn}' }, 'Cannot resolve Archive.Arn: the template has no such'],
    [
      'a pseudo parameter',
      [{ Ref: 'AWS::NoValue' }],
      'Cannot resolve AWS::NoValue: the template has no such resource.',
    ],
    [
      'an attribute',
      { 'Fn::GetAtt': ['Archive', 'WebsiteURL'] },
      'Cannot resolve Fn::GetAtt Archive.WebsiteURL: a local deployment does not know this attribute of AWS::S3::Bucket.',
    ],
    [
      'a resource type',
      { Ref: 'Table' },
      'Cannot name the resource Table: a local deployment does not know the type AWS::DynamoDB::Table.',
    ],
  ])('names %s that it does not know', (_name, value, message) => {
    expect(() => resolve(value, { Resources: { ...resources, Table: { Type: 'AWS::DynamoDB::Table' } } })).toThrow(
      message,
    );
  });

  it('refuses a resource that exists under a condition only', () => {
    const Resources = {
      There: { Type: 'AWS::S3::Bucket' },
      Perhaps: { Type: 'AWS::SNS::Topic', Condition: 'InEurope' },
    };
    const stack = new StackTemplate({ Resources }, location);
    expect(stack.resourcesOf('AWS::S3::Bucket').map(({ logicalId }) => logicalId)).toEqual(['There']);
    expect(() => stack.resourcesOf('AWS::SNS::Topic')).toThrow(
      'Cannot deploy Perhaps locally: it has the condition InEurope, and a local deployment knows none.',
    );
  });
});
