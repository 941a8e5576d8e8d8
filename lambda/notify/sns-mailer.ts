import { PublishCommand, type PublishCommandInput, SNSClient } from '@aws-sdk/client-sns';
import { maxAttempts, timeLimits } from '../aws-clients';
import type { Mail } from './mail';

/** The topic did not take a mail. */
export class MailError extends Error {
  override readonly name = 'MailError';
}

/** Sends mails to the subscribers of a topic, to each kind of subscriber in its own form. */
export class SnsMailer {
  readonly #client: SNSClient;
  readonly #topicArn: string;

  constructor(topicArn: string, client = new SNSClient({ maxAttempts, requestHandler: timeLimits })) {
    this.#topicArn = topicArn;
    this.#client = client;
  }

  /**
   * @param record what queues and functions get, as JSON; left out: they get the text too
   * @throws MailError
   */
  async send(mail: Mail, record?: unknown): Promise<void> {
    const message = { TopicArn: this.#topicArn, Subject: mail.subject, ...contentOf(mail, record) };
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

/** SNS takes 1,600 bytes of a text message. */
const longestSms = 1400;

/** Amazon Q takes 8,000 characters of a description and 250 of a title. */
const longestDescription = 7000;

function contentOf(
  { subject, text }: Mail,
  record: unknown,
): Pick<PublishCommandInput, 'Message' | 'MessageStructure'> {
  const others = { email: text, sms: smsOf(subject, text), https: JSON.stringify(chatMessage(subject, text)) };
  const withRecord = JSON.stringify({ default: record === undefined ? text : JSON.stringify(record), ...others });
  const fits = Buffer.byteLength(withRecord) <= longestMessage;
  return {
    Message: fits ? withRecord : JSON.stringify({ default: text.slice(0, longestDescription), ...others }),
    MessageStructure: 'json',
  };
}

/** Whoever is woken by a phone needs to know what happened; the rest is in the mail. */
function smsOf(subject: string, text: string): string {
  const [firstLine = ''] = text.split('\n');
  let short = `${subject}\n${firstLine}`;
  while (Buffer.byteLength(short) > longestSms) short = short.slice(0, -1);
  return short;
}

/**
 * The only messages, beside AWS's own events, that Amazon Q shows in chat channels (its administrator guide, "Custom
 * notifications"). As a block of code, because names of clusters may hold what Markdown reads as formatting.
 */
function chatMessage(subject: string, text: string): object {
  const quoted = text.replaceAll('```', "'''").slice(0, longestDescription);
  const context = /s3:\/\/\S+/.exec(text)?.[0].replace(/[.,;]$/, '');
  return {
    version: '1.0',
    source: 'custom',
    content: { textType: 'client-markdown', title: subject, description: `\`\`\`\n${quoted.trimEnd()}\n\`\`\`` },
    metadata: { threadId: subject, ...(context !== undefined && { additionalContext: { record: context } }) },
  };
}
