import { CreateKeyCommand } from '@aws-sdk/client-kms';
import { CreateBucketCommand, PutBucketPolicyCommand, type S3Client } from '@aws-sdk/client-s3';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import { CreateTopicCommand } from '@aws-sdk/client-sns';
import { conformanceChecks, type Subject, subjectAt } from './conformance';
import { admin, clientsOf, guardedBucketPolicy, region } from './endpoint-setup';
import { motoDifferences } from './moto-differences';
import { findCommand, type MotoServer, startMoto } from './moto-server';

const command = findCommand('moto_server');

// What holds here too is not only our own reading of S3, Secrets Manager, KMS and SNS.
(command === undefined ? describe.skip : describe)(`moto (skipped where moto_server is not in the PATH)`, () => {
  let moto: MotoServer;
  let subject: Subject;

  beforeAll(async () => {
    moto = await startMoto(command ?? '');
    const clients = clientsOf(moto.url, admin);
    await createBucket(clients.s3, 'archive');
    await createBucket(clients.s3, 'guarded');
    const Policy = JSON.stringify(guardedBucketPolicy('guarded'));
    await clients.s3.send(new PutBucketPolicyCommand({ Bucket: 'guarded', Policy }));
    const value = 's3cret';
    const name = 'stage/api-key';
    const { ARN = '' } = await clients.secrets.send(new CreateSecretCommand({ Name: name, SecretString: value }));
    await clients.secrets.send(new CreateSecretCommand({ Name: 'empty' }));
    const keyKind = { KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' } as const;
    const { KeyMetadata } = await clients.kms.send(new CreateKeyCommand(keyKind));
    const { TopicArn: topic = '' } = await clients.sns.send(new CreateTopicCommand({ Name: 'mails' }));
    const secret = { name, arn: ARN, value };
    subject = subjectAt(moto.url, { secret, signingKey: KeyMetadata?.Arn ?? '', topic });
  });

  afterAll(() => moto.stop());

  const differs = (sentence: string) => motoDifferences.some((beginning) => sentence.startsWith(beginning));

  it.each(Object.entries(conformanceChecks).filter(([sentence]) => !differs(sentence)))('%s', (_sentence, check) =>
    check(subject));

  it('differs only in what is checked', () => {
    const sentences = Object.keys(conformanceChecks);
    for (const beginning of motoDifferences) expect(sentences).toContainEqual(expect.stringMatching(`^${beginning}`));
  });
});

async function createBucket(s3: S3Client, Bucket: string): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket, CreateBucketConfiguration: { LocationConstraint: region } }));
}
