// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how Fn::Sub names its variables.
import * as z from 'zod';
import { StackTemplate } from '../../../local/deployment/stack-template';
import type { Template } from '../../../local/deployment/template';

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

it.each<[string, unknown, unknown]>([
  ['Ref of a pseudo parameter', { Ref: 'AWS::AccountId' }, '111122223333'],
  ['Ref of a named resource', { Ref: 'Archive' }, 'arch-eu-central-1'],
  ['Ref of a resource without a name', { Ref: 'Subject' }, 'demo-subject'],
  ['Ref of a secret', { Ref: 'Key' }, 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:demo-Key-Ab12Cd'],
  ['Ref of a parameter', { Ref: 'Parameter' }, 'by default'],
  ['Fn::GetAtt', { 'Fn::GetAtt': ['Archive', 'Arn'] }, 'arn:aws:s3:::arch-eu-central-1'],
  ['Fn::GetAtt with a dot', { 'Fn::GetAtt': 'Archive.Arn' }, 'arn:aws:s3:::arch-eu-central-1'],
  [
    'Fn::Join',
    { 'Fn::Join': ['/', [{ 'Fn::GetAtt': ['Archive', 'Arn'] }, 'runs', '*']] },
    'arn:aws:s3:::arch-eu-central-1/runs/*',
  ],
  [
    'Fn::Sub',
    { 'Fn::Sub': '${AWS::StackName} ${Archive.Arn} ${!Literal} ${Archive}' },
    'demo arn:aws:s3:::arch-eu-central-1 ${Literal} arch-eu-central-1',
  ],
  ['Fn::Sub with variables', { 'Fn::Sub': ['${Name}!', { Name: { Ref: 'AWS::Region' } }] }, 'eu-central-1!'],
  ['Fn::Select and Fn::Split', { 'Fn::Select': [6, { 'Fn::Split': [':', { Ref: 'Key' }] }] }, 'demo-Key-Ab12Cd'],
  ['Fn::If', { 'Fn::If': ['InEurope', 'yes', 'no'] }, 'yes'],
  ['Fn::FindInMap', { 'Fn::FindInMap': ['Map', { Ref: 'AWS::Region' }, 'size'] }, 7],
  ['AWS::NoValue in an object', { kept: 1, dropped: { Ref: 'AWS::NoValue' } }, { kept: 1 }],
  ['AWS::NoValue in a list', [1, { Ref: 'AWS::NoValue' }], [1]],
  [
    'a policy statement that has only a condition',
    { Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    { Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
  ],
])('resolves %s', (_name, value, expected) => {
  expect(
    resolve(value, {
      Resources: resources,
      Parameters: { Parameter: { Default: 'by default' } },
      Mappings: { Map: { 'eu-central-1': { size: 7 } } },
      Conditions: {
        InEurope: {
          'Fn::And': [
            { 'Fn::Not': [{ Condition: 'InChina' }] },
            { 'Fn::Or': [{ Condition: 'InChina' }, { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'eu-central-1'] }] },
          ],
        },
        InChina: { 'Fn::Equals': [{ Ref: 'AWS::Partition' }, 'aws-cn'] },
      },
    }),
  ).toEqual(expected);
});

it.each<[string, unknown, string]>([
  [
    'an intrinsic',
    { 'Fn::GetAZs': '' },
    'Cannot resolve Fn::GetAZs at Subject.Value: a local deployment does not know it.',
  ],
  ['a resource', { Ref: 'Nobody' }, 'Cannot resolve Nobody: the template has no such resource.'],
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
  [
    'a condition',
    { 'Fn::If': ['Nowhere', 1, 2] },
    'Cannot resolve the condition Nowhere: the template has none of that name.',
  ],
])('names %s that it does not know', (_name, value, message) => {
  expect(() => resolve(value, { Resources: { ...resources, Table: { Type: 'AWS::DynamoDB::Table' } } })).toThrow(
    message,
  );
});

it('leaves out resources whose condition does not hold', () => {
  const stack = new StackTemplate(
    {
      Conditions: { Never: { 'Fn::Equals': ['a', 'b'] } },
      Resources: { There: { Type: 'AWS::S3::Bucket' }, Absent: { Type: 'AWS::S3::Bucket', Condition: 'Never' } },
    },
    location,
  );
  expect(stack.resourcesOf('AWS::S3::Bucket').map(({ logicalId }) => logicalId)).toEqual(['There']);
});

it('names a property that a strict schema does not know, and resolves no other', () => {
  const stack = new StackTemplate(
    { Resources: { Fn: { Type: 'AWS::Lambda::Function', Properties: { Layers: [{ 'Fn::ImportValue': 'x' }] } } } },
    location,
  );
  const [resource] = stack.resourcesOf('AWS::Lambda::Function');
  expect(() => resource?.read(z.strictObject({}))).toThrow(
    'Cannot deploy Fn (AWS::Lambda::Function) locally: Unrecognized key: "Layers".',
  );
  expect(resource?.read(z.object({}))).toEqual({});
});

it('resolves the outputs', () => {
  const stack = new StackTemplate(
    { Resources: resources, Outputs: { Bucket: { Value: { Ref: 'Archive' } } } },
    location,
  );
  expect(stack.outputs()).toEqual({ Bucket: 'arch-eu-central-1' });
});
