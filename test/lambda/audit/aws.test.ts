import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KMSClient } from '@aws-sdk/client-kms';
import { SNSClient } from '@aws-sdk/client-sns';
import { KmsSigner, SigningError } from '../../../lambda/audit/kms-signer';
import { MailError, SnsMailer } from '../../../lambda/audit/sns-mailer';

interface Seen {
  readonly target: string | undefined;
  readonly body: string;
}

let server: Server;
let seen: Seen[];
let answer: { readonly status: number; readonly body: string };

beforeEach(async () => {
  seen = [];
  server = createServer(async (request, response) => {
    seen.push({ target: String(request.headers['x-amz-target']), body: await textOf(request) });
    response.writeHead(answer.status).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function target() {
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint, region: 'eu-central-1', credentials: { accessKeyId: 'a', secretAccessKey: 's' }, maxAttempts: 1 };
}

const keyArn = 'arn:aws:kms:eu-central-1:123456789012:key/k';
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('the signing key', () => {
  it('signs the message itself and not a digest, with ECDSA over SHA-256', async () => {
    answer = { status: 200, body: JSON.stringify({ Signature: base64('signature') }) };
    const signer = new KmsSigner(new KMSClient(target()), keyArn);
    expect(String(await signer.sign(Buffer.from('message')))).toBe('signature');
    expect(seen[0]?.target).toBe('TrentService.Sign');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      KeyId: keyArn,
      Message: base64('message'),
      MessageType: 'RAW',
      SigningAlgorithm: 'ECDSA_SHA_256',
    });
  });

  it('is asked for its public half once', async () => {
    answer = { status: 200, body: JSON.stringify({ PublicKey: base64('public') }) };
    const signer = new KmsSigner(new KMSClient(target()), keyArn);
    for (let time = 0; time < 2; time += 1) expect(String(await signer.publicKey())).toBe('public');
    expect(seen.map((one) => one.target)).toEqual(['TrentService.GetPublicKey']);
  });

  it('that may not be used is named with the reason', async () => {
    answer = { status: 400, body: JSON.stringify({ __type: 'AccessDeniedException', message: 'not authorized' }) };
    const signer = new KmsSigner(new KMSClient(target()), keyArn);
    await expect(signer.sign(Buffer.from('x'))).rejects.toMatchObject({
      name: 'SigningError',
      message: `Signing with ${keyArn} failed: AccessDeniedException: not authorized`,
    });
    await expect(signer.publicKey()).rejects.toThrow(SigningError);
  });

  it('that gives an empty answer has not signed', async () => {
    answer = { status: 200, body: '{}' };
    const signer = new KmsSigner(new KMSClient(target()), keyArn);
    await expect(signer.sign(Buffer.from('x'))).rejects.toThrow('the answer is empty');
  });
});

describe('the topic', () => {
  const topicArn = 'arn:aws:sns:eu-central-1:123456789012:t';

  it('gets subject and text', async () => {
    answer = {
      status: 200,
      body: '<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>',
    };
    await new SnsMailer(new SNSClient(target()), topicArn).send({ subject: 'Audit: fine', text: 'All\nis fine.\n' });
    const sent = new URLSearchParams(seen[0]?.body);
    expect(Object.fromEntries(sent)).toMatchObject({
      Action: 'Publish',
      TopicArn: topicArn,
      Subject: 'Audit: fine',
      Message: 'All\nis fine.\n',
    });
  });

  it('that takes no mail is named with the reason', async () => {
    answer = {
      status: 403,
      body: '<ErrorResponse><Error><Code>AuthorizationError</Code><Message>no</Message></Error></ErrorResponse>',
    };
    const mailer = new SnsMailer(new SNSClient(target()), topicArn);
    const sending = mailer.send({ subject: 's', text: 't' });
    await expect(sending).rejects.toThrow(MailError);
    await expect(sending).rejects.toThrow(`Sending a mail to ${topicArn} failed: `);
  });
});
