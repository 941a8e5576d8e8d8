import { SnsMailer } from './audit/sns-mailer';
import { readVariables } from './environment';
import { failureMail } from './failure/failure-mail';
import { failureEnvironmentNames } from './stack-contract';

const names = readVariables(Object.values(failureEnvironmentNames), process.env);
const toPage = new SnsMailer(names[failureEnvironmentNames.topicArn]);
const ofRuns = new SnsMailer(names[failureEnvironmentNames.runTopicArn]);

/** What Lambda calls about each event and each execution that failed for good: people get text, machines the record. */
export async function handler(event: unknown): Promise<void> {
  const mail = failureMail(event, names[failureEnvironmentNames.service]);
  await (mail.isOfIncompleteRun ? ofRuns : toPage).send(mail, event);
}
