import { randomUUID } from 'node:crypto';
import { AwsError } from '../aws-error';
import { type Account, type Answer, type Call, type Principal, type PublishedMessage, readSmallBody } from '../call';
import { verifyCaller } from '../json-call';
import { toXml } from '../s3/s3-answers';

/** SNS takes 256 KiB of message; its form encoding makes it three times as long at most. */
const longestBody = 1_048_576;
const longestMessage = 262_144;

const namespace = 'http://sns.amazonaws.com/doc/2010-03-31/';

/** What a subject may be: printable ASCII, under 100 characters, and no space at its beginning (SNS, Publish). */
const subjectForm = /^[!-~][ -~]{0,98}$/;

const knownParameters = ['Action', 'Version', 'TopicArn', 'Subject', 'Message'];

/**
 * Checks the signature of a call to SNS, and whether the policies of caller, topic and key allow it.
 * @returns what carries the call out
 * @throws AwsError
 */
export async function admitSnsCall(call: Call, account: Account): Promise<() => Promise<Answer>> {
  const body = await readSmallBody(call.body(), longestBody);
  const parameters = new URLSearchParams(body.toString());
  const action = parameters.get('Action') ?? '';
  call.facts.action = action;
  const principal = await verifyCaller(call, account, 'sns', body);
  const unknown = [...parameters.keys()].find((name) => !knownParameters.includes(name));
  if (action !== 'Publish' || unknown !== undefined)
    throw new AwsError(501, 'NotImplemented', `The embedded endpoint has no ${action} with ${unknown ?? 'this form'}`);
  const message = readMessage(parameters);
  return async () => publish(account, principal, message);
}

function readMessage(parameters: URLSearchParams): PublishedMessage {
  const topicArn = parameters.get('TopicArn') ?? '';
  const subject = parameters.get('Subject') ?? undefined;
  const message = parameters.get('Message') ?? '';
  const invalid = (reason: string) => new AwsError(400, 'InvalidParameter', `Invalid parameter: ${reason}`);
  if (!topicArn.startsWith('arn:aws:sns:')) throw invalid('TopicArn');
  if (subject !== undefined && !subjectForm.test(subject)) throw invalid('Subject');
  if (message === '') throw invalid('Empty message');
  if (Buffer.byteLength(message) > longestMessage) throw invalid('Message too long');
  return { topicArn, subject, message };
}

function publish({ publish: deliver }: Account, principal: Principal, message: PublishedMessage): Answer {
  const refused = deliver?.(principal, message);
  if (deliver === undefined) throw new AwsError(404, 'NotFound', 'Topic does not exist');
  if (refused !== undefined) throw new AwsError(403, 'AuthorizationError', refused);
  const content = {
    '@xmlns': namespace,
    PublishResult: { MessageId: randomUUID() },
    ResponseMetadata: { RequestId: randomUUID() },
  };
  return { status: 200, headers: { 'content-type': 'text/xml' }, body: toXml('PublishResponse', content) };
}

/** An error as SNS writes it. */
export function snsErrorAnswer({ status, code, message, headers }: AwsError, requestId: string): Answer {
  const content = {
    '@xmlns': namespace,
    Error: { Type: status < 500 ? 'Sender' : 'Receiver', Code: code, Message: message },
    RequestId: requestId,
  };
  return { status, headers: { ...headers, 'content-type': 'text/xml' }, body: toXml('ErrorResponse', content) };
}
