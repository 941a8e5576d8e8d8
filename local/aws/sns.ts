import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import {
  type Account,
  type Answer,
  AwsError,
  type Call,
  type DeliveredMessage,
  type PreparedCall,
  type Principal,
} from './call';
import { toXml } from './s3/s3-answers';

/** SNS takes 256 KiB of message. */
const longestMessage = 262_144;

const namespace = 'http://sns.amazonaws.com/doc/2010-03-31/';

/** What a subject may be: printable ASCII, under 100 characters, and no space at its beginning (SNS, Publish). */
const subjectForm = /^[!-~][ -~]{0,98}$/;

const knownParameters = ['Action', 'Version', 'TopicArn', 'Subject', 'Message', 'MessageStructure'];

/**
 * Whether the policies of caller, topic and key allow it shows on delivery.
 * @throws AwsError
 */
export async function prepareSnsCall(call: Call, account: Account): Promise<PreparedCall> {
  const parameters = new URLSearchParams(await text(call.request));
  const action = parameters.get('Action') ?? '';
  call.facts.action = action;
  const unknown = [...parameters.keys()].find((name) => !knownParameters.includes(name));
  if (action !== 'Publish' || unknown !== undefined)
    throw new AwsError(501, 'NotImplemented', `The embedded endpoint has no ${action} with ${unknown ?? 'this form'}`);
  const message = readMessage(parameters);
  const execute = async (principal: Principal) => {
    if (account.publish === undefined) throw new AwsError(404, 'NotFound', 'Topic does not exist');
    const refusal = account.publish(principal, message);
    if (refusal !== undefined) throw new AwsError(403, 'AuthorizationError', refusal);
    return snsAnswer(200, 'PublishResponse', { PublishResult: { MessageId: randomUUID() } });
  };
  return { accesses: [], execute };
}

/** What subscribers get by their protocol, with the message structure `json`. */
const byProtocol = z.object({ default: z.string(), email: z.string().optional() });

function readMessage(parameters: URLSearchParams): DeliveredMessage {
  const to = parameters.get('TopicArn') ?? '';
  const subject = parameters.get('Subject') ?? undefined;
  const message = parameters.get('Message') ?? '';
  const invalid = (reason: string) => new AwsError(400, 'InvalidParameter', `Invalid parameter: ${reason}`);
  if (!to.startsWith('arn:aws:sns:')) throw invalid('TopicArn');
  if (subject !== undefined && !subjectForm.test(subject)) throw invalid('Subject');
  if (message === '') throw invalid('Empty message');
  if (Buffer.byteLength(message) > longestMessage) throw invalid('Message too long');
  const mail = { to, ...(subject !== undefined && { subject }) };
  if (!parameters.has('MessageStructure')) return { ...mail, body: message };
  if (parameters.get('MessageStructure') !== 'json') throw invalid('Message Structure');
  const { default: record, email = record } = byProtocol.parse(JSON.parse(message));
  return { ...mail, body: email, record };
}

/** An error as SNS writes it. */
export function snsErrorAnswer({ status, code, message }: AwsError, RequestId: string): Answer {
  const Type = status < 500 ? 'Sender' : 'Receiver';
  return snsAnswer(status, 'ErrorResponse', { Error: { Type, Code: code, Message: message }, RequestId });
}

function snsAnswer(status: number, root: string, content: object): Answer {
  const body = toXml(root, { '@xmlns': namespace, ...content });
  return { status, headers: { 'content-type': 'text/xml' }, body };
}
