import { readVariables } from '../environment';
import { failureVariables } from '../stack-contract';
import { failureMail } from './failure-mail';
import { SnsMailer } from './sns-mailer';

const names = readVariables(failureVariables, process.env);
const toPage = new SnsMailer(names.TOPIC_ARN);
const ofRuns = new SnsMailer(names.RUN_TOPIC_ARN);

/** What Lambda calls about each event and each execution that failed for good: people get text, machines the record. */
export async function handler(event: unknown): Promise<void> {
  const mail = failureMail(event, names.POWERTOOLS_SERVICE_NAME);
  await (mail.isOfIncompleteRun ? ofRuns : toPage).send(mail, event);
}
