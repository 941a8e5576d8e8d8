import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { encodeKeyPath } from '../../lambda/archive/archive-layout';
import { type Account, AwsError, type Call, type Principal } from './call';

const authorizationForm =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/[^,\s]+, SignedHeaders=([^,\s]+), Signature=([0-9a-f]{64})$/;

/**
 * Finds out who makes a call: verifies the signature of its headers, Signature Version 4. Whatever is wrong has S3's own
 * error code, whichever service is called. A signature does not grow old here.
 * @param payloadHash lower-case hex SHA-256 of the body, or the word that S3 signs in its place
 * @throws AwsError
 */
export async function verifyCaller(call: Call, account: Account, payloadHash: string): Promise<Principal> {
  const { request, target, facts } = call;
  const { headers } = request;
  const match = authorizationForm.exec(headers.authorization ?? '');
  if (match === null) throw new AwsError(403, 'AccessDenied', 'Access Denied: the request is not signed');
  const [, keyId = '', signedHeaders = '', signature = ''] = match;
  const principal = account.principals.find(({ accessKeyId }) => accessKeyId === keyId);
  if (principal === undefined)
    throw new AwsError(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.');
  if (headers['x-amz-security-token'] !== principal.sessionToken)
    throw new AwsError(400, 'InvalidToken', 'The provided token is not the one that belongs to the access key.');
  const names = new Set(signedHeaders.split(';'));
  const mustBeSigned = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  const unsigned = mustBeSigned.find((name) => !names.has(name));
  if (unsigned !== undefined) throw new AwsError(403, 'AccessDenied', `The header ${unsigned} is not signed`);

  const signer = new SignatureV4({
    service: facts.service,
    region: account.region,
    credentials: principal,
    sha256: Sha256,
    // S3 signs the path as it is sent, every other service escapes it once more.
    uriEscapePath: facts.service !== 's3',
    applyChecksum: false,
  });
  const expected = await signer.sign(
    {
      method: request.method ?? '',
      protocol: 'http:',
      hostname: '',
      // Every segment was decoded, and is encoded again in one form.
      path: `/${encodeKeyPath(target.path)}`,
      query: target.query,
      headers: {
        ...Object.fromEntries([...names].map((name) => [name, String(headers[name])])),
        'x-amz-content-sha256': payloadHash,
      },
    },
    {
      signingDate: signedAt(headers['x-amz-date']),
      signableHeaders: names,
      // Clients of other services than S3 need not send the hash; it is given above so that the signer does not read a body.
      unsignableHeaders: new Set(names.has('x-amz-content-sha256') ? [] : ['x-amz-content-sha256']),
    },
  );
  if (!expected.headers.authorization?.endsWith(`Signature=${signature}`)) throw mismatch();
  return principal;
}

function mismatch(): AwsError {
  return new AwsError(403, 'SignatureDoesNotMatch', 'The calculated signature does not match the one you provided.');
}

/** @param stamp the header x-amz-date: `20261120T100000Z` */
function signedAt(stamp: string | string[] | undefined): Date {
  const iso = String(stamp).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6.000Z');
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) throw mismatch();
  return date;
}
