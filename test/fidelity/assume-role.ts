import { createHash } from 'node:crypto';
import { signatureOf } from '../support/aws-signature';

const region = 'eu-central-1';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Credentials of a role, from STS at an address. */
export async function assumeRole(url: string, caller: Credentials, roleArn: string): Promise<Required<Credentials>> {
  const body = new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: 'test',
  }).toString();
  const date = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${date.slice(0, 8)}/${region}/sts/aws4_request`;
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    host: new URL(url).host,
    'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
    'x-amz-date': date,
  };
  const authorization = `AWS4-HMAC-SHA256 Credential=${caller.accessKeyId}/${scope}, SignedHeaders=${Object.keys(headers).join(';')}`;
  const signature = signatureOf(
    { method: 'POST', url: '/', headers: { ...headers, authorization } },
    caller.secretAccessKey,
  );
  const signed = { ...headers, authorization: `${authorization}, Signature=${signature}` };
  const response = await fetch(url, { method: 'POST', headers: signed, body });
  const text = await response.text();
  const of = (name: string) => new RegExp(`<${name}>([^<]+)<`).exec(text)?.[1];
  const [accessKeyId, secretAccessKey, sessionToken] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map(of);
  if (accessKeyId === undefined || secretAccessKey === undefined || sessionToken === undefined)
    throw new Error(`Assuming ${roleArn} failed: ${response.status} ${text}`);
  return { accessKeyId, secretAccessKey, sessionToken };
}
