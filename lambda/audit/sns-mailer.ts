import { PublishCommand, type PublishCommandInput, SNSClient } from '@aws-sdk/client-sns';
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

  constructor(topicArn: string, client = new SNSClient({ maxAttempts, requestHandler: timeLimits })) {
    this.#topicArn = topicArn;
    this.#client = client;
  }

  /**
   * @param record what other subscribers than mail addresses get, as JSON; left out: they get the text too
   * @throws MailError
   */
  async send({ subject, text }: Mail, record?: unknown): Promise<void> {
    const message = { TopicArn: this.#topicArn, Subject: subject, ...contentOf(text, record) };
    try {
      await this.#client.send(new PublishCommand(message));
    } catch (error) {
      const { name, message } = error as Error;
      throw new MailError(`Sending a mail to ${this.#topicArn} failed: ${name}: ${message}`, { cause: error });
    }
  }
}

/** SNS takes this many bytes of a message, for all protocols together. */
const longestMessage = 262_144;

function contentOf(text: string, record: unknown): Pick<PublishCommandInput, 'Message' | 'MessageStructure'> {
  if (record === undefined) return { Message: text };
  const Message = JSON.stringify({ default: JSON.stringify(record), email: text, sms: text });
  return Buffer.byteLength(Message) > longestMessage ? { Message: text } : { Message, MessageStructure: 'json' };
}
