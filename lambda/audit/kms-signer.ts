import { GetPublicKeyCommand, KMSClient, MessageType, SignCommand, SigningAlgorithmSpec } from '@aws-sdk/client-kms';
import { maxAttempts, timeLimits } from '../aws-clients';

/** The key did not sign, or did not give its public half. */
export class SigningError extends Error {
  override readonly name = 'SigningError';
}

/** Signs with an asymmetric key in KMS, whose private half never leaves it. */
export class KmsSigner {
  readonly keyArn: string;
  readonly #client: KMSClient;
  /** A key never gets another public half. */
  #publicKey: Buffer | undefined;

  constructor(keyArn: string, client = new KMSClient({ maxAttempts, requestHandler: timeLimits })) {
    this.keyArn = keyArn;
    this.#client = client;
  }

  /** SPKI in DER. @throws SigningError */
  async publicKey(): Promise<Buffer> {
    this.#publicKey ??= await this.#demand(
      'Reading the public key of',
      this.#client.send(new GetPublicKeyCommand({ KeyId: this.keyArn })).then(({ PublicKey }) => PublicKey),
    );
    return this.#publicKey;
  }

  /** ECDSA over the SHA-256 of the message, in DER. @throws SigningError */
  sign(message: Buffer): Promise<Buffer> {
    const command = new SignCommand({
      KeyId: this.keyArn,
      Message: message,
      MessageType: MessageType.RAW,
      SigningAlgorithm: SigningAlgorithmSpec.ECDSA_SHA_256,
    });
    return this.#demand(
      'Signing with',
      this.#client.send(command).then(({ Signature }) => Signature),
    );
  }

  async #demand(action: string, answered: Promise<Uint8Array | undefined>): Promise<Buffer> {
    const failed = (why: string, cause?: Error) =>
      new SigningError(`${action} ${this.keyArn} failed: ${why}`, { cause });
    const answer = await answered.catch((error: Error) => {
      throw failed(`${error.name}: ${error.message}`, error);
    });
    if (answer === undefined) throw failed('the answer is empty');
    return Buffer.from(answer);
  }
}
