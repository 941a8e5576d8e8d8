import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { KMSClient } from '@aws-sdk/client-kms';
import { SNSClient } from '@aws-sdk/client-sns';
import * as z from 'zod';
import { KmsSigner, SigningError } from '../../../lambda/audit/kms-signer';
import { MailError, SnsMailer } from '../../../lambda/notify/sns-mailer';
import { type ListeningServer, listenLocally } from '../../../local/listen-locally';

interface Seen {
  readonly target: string | undefined;
  readonly body: string;
}

let server: ListeningServer;
let seen: Seen[];
let answer: { readonly status: number; readonly body: string };

beforeEach(async () => {
  seen = [];
  const answering = createServer(async (request, response) => {
    seen.push({ target: String(request.headers['x-amz-target']), body: await text(request) });
    response.writeHead(answer.status).end(answer.body);
  });
  server = await listenLocally(answering);
});

afterEach(() => server.close());

function target() {
  const { url: endpoint } = server;
  return { endpoint, region: 'eu-central-1', credentials: { accessKeyId: 'a', secretAccessKey: 's' }, maxAttempts: 1 };
}

const topicArn = 'arn:aws:sns:eu-central-1:123456789012:t';
const keyArn = 'arn:aws:kms:eu-central-1:123456789012:key/k';
const base64 = (text: string) => Buffer.from(text).toString('base64');

const answerWith = (body: unknown, status = 200) => {
  answer = { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
};
const signer = () => new KmsSigner(keyArn, new KMSClient(target()));
const mailer = () => new SnsMailer(topicArn, new SNSClient(target()));

describe('the signing key', () => {
  it('signs the message itself and not a digest, with ECDSA over SHA-256', async () => {
    answerWith({ Signature: base64('signature') });
    expect(String(await signer().sign(Buffer.from('message')))).toBe('signature');
    const how = { MessageType: 'RAW', SigningAlgorithm: 'ECDSA_SHA_256' };
    expect(seen[0]?.target).toBe('TrentService.Sign');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ KeyId: keyArn, Message: base64('message'), ...how });
  });

  it('is asked for its public half once', async () => {
    answerWith({ PublicKey: base64('public') });
    const one = signer();
    for (let time = 0; time < 2; time += 1) expect(String(await one.publicKey())).toBe('public');
    expect(seen.map(({ target }) => target)).toEqual(['TrentService.GetPublicKey']);
  });

  it.each([
    ['may not be used', 400, { __type: 'AccessDeniedException', message: 'no' }, 'AccessDeniedException: no'],
    ['gives an empty answer', 200, {}, 'the answer is empty'],
  ])('that %s is named with the reason', async (_, status, body, reason) => {
    answerWith(body, status);
    await expect(signer().sign(Buffer.from('x'))).rejects.toThrow(SigningError);
    await expect(signer().publicKey()).rejects.toThrow(`Reading the public key of ${keyArn} failed: ${reason}`);
  });
});

describe('the topic', () => {
  const mail = { subject: 'Audit: fine', text: 'All\nis fine.\n' };

  async function sent(...args: Parameters<SnsMailer['send']>) {
    seen = [];
    answerWith('<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>');
    await mailer().send(...args);
    const parameters = Object.fromEntries(new URLSearchParams(seen[0]?.body));
    return { ...parameters, message: JSON.parse(parameters.Message ?? '') } as Record<string, string> & {
      message: Record<'default' | 'email' | 'sms' | 'https', string>;
    };
  }

  it('gets subject and text', async () => {
    const { text, subject } = mail;
    const { message, ...others } = await sent(mail);
    expect(others).toMatchObject({ Action: 'Publish', TopicArn: topicArn, Subject: subject, MessageStructure: 'json' });
    expect(message).toMatchObject({ default: text, email: text, sms: 'Audit: fine\nAll' });
  });

  it('gets the record for queues and functions, and text for people, even if the record is too long for SNS', async () => {
    const { message } = await sent(mail, { why: 'x' });
    expect(message).toMatchObject({ default: '{"why":"x"}', email: mail.text });
    const { message: short, Message } = await sent(mail, { why: 'x'.repeat(300_000) });
    expect(short).toMatchObject({ default: mail.text, email: mail.text });
    expect(Message?.length).toBeLessThan(262_144);
  });

  it('gets a text message of at most 1,400 bytes for phones', async () => {
    const { message } = await sent({ subject: 'Audit: DAMAGE', text: `${'ü'.repeat(2000)}\nmore` });
    expect(message.sms).toMatch(/^Audit: DAMAGE\nü{600,}$/);
    expect(Buffer.byteLength(message.sms)).toBeLessThanOrEqual(1400);
  });

  /** The schema of custom notifications, as the administrator guide of Amazon Q in chat applications has it. */
  const customNotification = z.strictObject({
    version: z.literal('1.0'),
    source: z.literal('custom'),
    id: z.string().optional(),
    content: z.strictObject({
      textType: z.literal('client-markdown').optional(),
      title: z.string().max(250).optional(),
      description: z.string().min(1).max(8000),
      nextSteps: z.array(z.string()).optional(),
      keywords: z.array(z.string()).optional(),
    }),
    metadata: z
      .strictObject({
        threadId: z.string().optional(),
        summary: z.string().optional(),
        eventType: z.string().optional(),
        relatedResources: z.array(z.string()).optional(),
        additionalContext: z.record(z.string(), z.string()).optional(),
      })
      .optional(),
  });

  it('gets what Amazon Q shows in a chat, with the key of the record', async () => {
    const text = `Failed.\nRun record with every outcome: s3://b/runs/x.jsonl\n${'``` y'.repeat(3000)}`;
    const { message } = await sent({ subject: 'fleet: failed for good', text });
    const { content, metadata } = customNotification.parse(JSON.parse(message.https));
    expect(content.title).toBe('fleet: failed for good');
    expect(content.description).toMatch(/^```\nFailed\.\n[^`]+\n```$/);
    expect(metadata?.additionalContext).toEqual({ record: 's3://b/runs/x.jsonl' });
  });

  it('that takes no mail is named with the reason', async () => {
    answerWith(
      '<ErrorResponse><Error><Code>AuthorizationError</Code><Message>no</Message></Error></ErrorResponse>',
      403,
    );
    const sending = mailer().send({ subject: 's', text: 't' });
    await expect(sending).rejects.toThrow(MailError);
    await expect(sending).rejects.toThrow(`Sending a mail to ${topicArn} failed: `);
  });
});
