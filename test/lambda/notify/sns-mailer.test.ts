import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { SNSClient } from '@aws-sdk/client-sns';
import * as z from 'zod';
import { MailError, SnsMailer } from '../../../lambda/notify/sns-mailer';
import { type ListeningServer, listenLocally } from '../../../local/listen-locally';

const topicArn = 'arn:aws:sns:eu-central-1:123456789012:t';
const taken = '<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>';

let server: ListeningServer;
/** What the topic was sent last, and what it answers. */
let received: string;
let answer: { readonly status: number; readonly body: string };

beforeEach(async () => {
  answer = { status: 200, body: taken };
  const answering = createServer(async (request, response) => {
    received = await text(request);
    response.writeHead(answer.status).end(answer.body);
  });
  server = await listenLocally(answering);
});

afterEach(() => server.close());

const mailer = () => {
  const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
  const { url: endpoint } = server;
  return new SnsMailer(topicArn, new SNSClient({ endpoint, region: 'eu-central-1', credentials, maxAttempts: 1 }));
};

describe('the topic', () => {
  const mail = { subject: 'Audit: fine', text: 'All\nis fine.\n' };

  async function sent(...args: Parameters<SnsMailer['send']>) {
    await mailer().send(...args);
    const parameters = Object.fromEntries(new URLSearchParams(received));
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
    const body = '<ErrorResponse><Error><Code>AuthorizationError</Code><Message>no</Message></Error></ErrorResponse>';
    answer = { status: 403, body };
    const sending = mailer().send({ subject: 's', text: 't' });
    await expect(sending).rejects.toThrow(MailError);
    await expect(sending).rejects.toThrow(`Sending a mail to ${topicArn} failed: `);
  });
});
