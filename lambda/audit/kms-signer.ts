import { GetPublicKeyCommand, KMSClient, MessageType, SignCommand, SigningAlgorithmSpec } from '@aws-sdk/client-kms';
import { maxAttempts, timeLimits } from '../archive/aws-clients';

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
    this.#publicKey ??= await this.#demand('Reading the public key of', async () => {
      const { PublicKey } = await this.#client.send(new GetPublicKeyCommand({ KeyId: this.keyArn }));
      return PublicKey;
    });
    return this.#publicKey;
  }

  /** ECDSA over the SHA-256 of the message, in DER. @throws SigningError */
  sign(message: Buffer): Promise<Buffer> {
    return this.#demand('Signing with', async () => {
      const { Signature } = await this.#client.send(
        new SignCommand({
          KeyId: this.keyArn,
          Message: message,
          MessageType: MessageType.RAW,
          SigningAlgorithm: SigningAlgorithmSpec.ECDSA_SHA_256,
        }),
      );
      return Signature;
    });
  }

  async #demand(action: string, call: () => Promise<Uint8Array | undefined>): Promise<Buffer> {
    let answer: Uint8Array | undefined;
    try {
      answer = await call();
    } catch (error) {
      const { name, message } = error as Error;
      throw new SigningError(`${action} ${this.keyArn} failed: ${name}: ${message}`, { cause: error });
    }
    if (answer === undefined) throw new SigningError(`${action} ${this.keyArn} failed: the answer is empty`);
    return Buffer.from(answer);
  }
}
