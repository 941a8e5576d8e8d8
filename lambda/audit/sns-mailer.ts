import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { maxAttempts, timeLimits } from '../archive/aws-clients';
import type { Mail } from './mail';

/** The topic did not take a mail. */
export class MailError extends Error {
  override readonly name = 'MailError';
}

/** Sends mails to the subscribers of a topic. */
export class SnsMailer {
  readonly #client: SNSClient;
  readonly #topicArn: string;

  constructor(client: SNSClient, topicArn: string) {
    this.#client = client;
    this.#topicArn = topicArn;
  }

  /** @throws MailError */
  async send({ subject, text }: Mail): Promise<void> {
    try {
      await this.#client.send(new PublishCommand({ TopicArn: this.#topicArn, Subject: subject, Message: text }));
    } catch (error) {
      const { name, message } = error as Error;
      throw new MailError(`Sending a mail to ${this.#topicArn} failed: ${name}: ${message}`, { cause: error });
    }
  }
}

export function createSnsClient(): SNSClient {
  return new SNSClient({ maxAttempts, requestHandler: timeLimits });
}
