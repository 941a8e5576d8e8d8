import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { credentials, region, startEndpoint } from './endpoint-setup';
import { findCommand } from './moto-server';

const python = findCommand('python3');
const hasBoto3 = python !== undefined && spawnSync(python, ['-c', 'import boto3']).status === 0;
const run = promisify(execFile);

const program = `
import io
import boto3
from botocore.exceptions import ClientError

def code(call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        return error.response['Error']['Code']

s3 = boto3.client('s3')
key = 'logs/cluster=ü +%25/x'
s3.put_object(Bucket='archive', Key=key, Body=b'hello', IfNoneMatch='*', Metadata={'a': 'b'})
s3.put_object(Bucket='archive', Key='stream', Body=io.BytesIO(b'x' * 3000000))
assert code(s3.put_object, Bucket='archive', Key=key, Body=b'x', IfNoneMatch='*') == 'PreconditionFailed'
got = s3.get_object(Bucket='archive', Key=key)
assert (got['Body'].read(), got['Metadata']) == (b'hello', {'a': 'b'})
assert [o['Key'] for o in s3.list_objects_v2(Bucket='archive')['Contents']] == [key, 'stream']
assert code(s3.get_object, Bucket='archive', Key='absent') == 'NoSuchKey'
secrets = boto3.client('secretsmanager')
assert secrets.get_secret_value(SecretId='api-key')['SecretString'] == 'value'
assert code(secrets.get_secret_value, SecretId='absent') == 'ResourceNotFoundException'
print('done')
`;

// Another family of SDKs, which signs, encodes and checks in its own way.
(hasBoto3 ? describe : describe.skip)('boto3 (skipped where it is not installed)', () => {
  it('gets the answers that it expects', async () => {
    const endpoint = await startEndpoint();
    endpoint.aws.setSecretValue('api-key', 'value');
    const env = {
      PATH: process.env.PATH,
      HOME: endpoint.folder,
      AWS_ENDPOINT_URL: endpoint.aws.url,
      AWS_DEFAULT_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    };
    try {
      const { stdout } = await run(python ?? '', ['-c', program], { env });
      expect(stdout.trim()).toBe('done');
    } finally {
      await endpoint.stop();
    }
  });
});
