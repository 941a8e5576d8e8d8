import { CreateKeyCommand } from '@aws-sdk/client-kms';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import { CreateTopicCommand } from '@aws-sdk/client-sns';
import { conformanceChecks, type Subject } from './conformance';
import { admin, clientsOf, region } from './endpoint-setup';
import { findCommand, type MotoServer, startMoto } from './moto-server';

const command = findCommand('moto_server');

// What holds here too is not only our own reading of S3, Secrets Manager, KMS and SNS.
(command === undefined ? describe.skip : describe)(`moto (skipped where moto_server is not in the PATH)`, () => {
  let moto: MotoServer;
  let subject: Subject;

  beforeAll(async () => {
    moto = await startMoto(command ?? '');
    const clients = clientsOf(moto.url, admin);
    const CreateBucketConfiguration = { LocationConstraint: region } as const;
    await clients.s3.send(new CreateBucketCommand({ Bucket: 'archive', CreateBucketConfiguration }));
    const [name, value] = ['stage/api-key', 's3cret'];
    const { ARN = '' } = await clients.secrets.send(new CreateSecretCommand({ Name: name, SecretString: value }));
    const keyKind = { KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' } as const;
    const { KeyMetadata } = await clients.kms.send(new CreateKeyCommand(keyKind));
    const { TopicArn: topic = '' } = await clients.sns.send(new CreateTopicCommand({ Name: 'mails' }));
    subject = { ...clients, secret: { name, arn: ARN, value }, signingKey: KeyMetadata?.Arn ?? '', topic };
  });

  afterAll(() => moto.stop());

  it.each(Object.entries(conformanceChecks))('%s', (_sentence, check) => check(subject));
});
