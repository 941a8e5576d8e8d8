import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { KMSClient } from '@aws-sdk/client-kms';
import { KmsSigner, SigningError } from '../../../lambda/audit/kms-signer';
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

const keyArn = 'arn:aws:kms:eu-central-1:123456789012:key/k';
const base64 = (text: string) => Buffer.from(text).toString('base64');

const answerWith = (body: unknown, status = 200) => {
  answer = { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
};
const signer = () => {
  const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
  return new KmsSigner(
    keyArn,
    new KMSClient({ endpoint: server.url, region: 'eu-central-1', credentials, maxAttempts: 1 }),
  );
};

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
