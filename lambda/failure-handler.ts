import { SnsMailer } from './audit/sns-mailer';
import { readVariables } from './environment';
import { failureMail } from './failure/failure-mail';
import { failureEnvironmentNames } from './stack-contract';

const names = readVariables(Object.values(failureEnvironmentNames), process.env);
const mailer = new SnsMailer(names[failureEnvironmentNames.topicArn]);

/** What Lambda calls about each event and each execution that failed for good: people get text, machines the record. */
export async function handler(event: unknown): Promise<void> {
  await mailer.send(failureMail(event, names[failureEnvironmentNames.service]), event);
}
