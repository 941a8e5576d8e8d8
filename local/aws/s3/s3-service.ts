import { type Account, type Answer, type Call, readSmallBody, sha256Hex } from '../call';
import { wrongPayloadHash } from './s3-answers';
import { type AuthorizedRequest, authorizeS3Request } from './s3-authorization';
import { listObjects, listObjectVersions } from './s3-listings';
import { parseS3Request, type S3Operation } from './s3-operation';
import { getObject, headObject } from './s3-reads';
import { deleteObject, putObject } from './s3-writes';

const executions: Readonly<Record<S3Operation, (call: Call, request: AuthorizedRequest) => Promise<Answer>>> = {
  PutObject: putObject,
  GetObject: getObject,
  HeadObject: headObject,
  DeleteObject: deleteObject,
  ListObjectsV2: listObjects,
  ListObjectVersions: listObjectVersions,
};

/** Longest body of a call that takes none, in bytes. */
const longestUnusedBody = 65_536;

/**
 * Finds out what a call to S3 asks for, and whether it may be done.
 * @returns what carries the call out
 * @throws AwsError
 */
export async function admitS3Call(call: Call, account: Account): Promise<() => Promise<Answer>> {
  const { request, target, facts } = call;
  const parsed = parseS3Request(facts.method, target, request.headers);
  facts.action = parsed.operation;
  facts.bucket = parsed.bucket;
  if (parsed.key !== '') facts.key = parsed.key;
  const authorized = await authorizeS3Request(call, parsed, account);
  return async () => {
    if (parsed.operation !== 'PutObject') await checkUnusedBody(call);
    return executions[parsed.operation](call, authorized);
  };
}

async function checkUnusedBody({ request, body }: Call): Promise<void> {
  const hash = request.headers['x-amz-content-sha256'];
  const received = await readSmallBody(body(), longestUnusedBody);
  if (hash !== 'UNSIGNED-PAYLOAD' && sha256Hex(received) !== hash) throw wrongPayloadHash();
}
