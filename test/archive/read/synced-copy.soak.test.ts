import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { longAfter, runVerify } from '../../cli/run-verify';
import { admin, region } from '../../local/aws/endpoint-setup';
import { newFolder } from '../../support/new-folder';
import { archiveToSync, inBucket } from './synced-copy';

function hasAwsCommand(): boolean {
  try {
    execFileSync('aws', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

(hasAwsCommand() ? it : it.skip)('what the real command "aws s3 sync" writes is a sound archive', async () => {
  const archive = await archiveToSync();
  const [aws, folder] = [await inBucket(archive), newFolder()];
  const env = {
    ...process.env,
    AWS_ACCESS_KEY_ID: admin.accessKeyId,
    AWS_SECRET_ACCESS_KEY: admin.secretAccessKey,
    AWS_SESSION_TOKEN: admin.sessionToken,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_CONFIG_FILE: `${folder}.none`,
    AWS_SHARED_CREDENTIALS_FILE: `${folder}.none`,
  };
  const args = ['--endpoint-url', aws.url, 's3', 'sync', 's3://archive', folder];
  await promisify(execFile)('aws', args, { env, timeout: 60_000 }).finally(() => aws.close());
  expect(await runVerify(folder, [], longAfter)).toMatchObject({
    code: 0,
    result: { sound: 12, withoutMetadata: 12, findings: [] },
  });
});
