import { shellQuoted } from '../plain-text';
import { type DroppedEvent, droppedEvent, type EndedExecution, endedExecution } from './event';
import { type Mail, subjectOf } from './mail';

/** Longest event that a command repeats, in characters. */
const repeatedCharacters = 2000;

/**
 * A mail about something that failed for good: what, why, and the command that starts it again.
 * @param event as Lambda or EventBridge sends it; any other is quoted
 * @param service name of the stack
 */
export function failureMail(event: unknown, service: string): Mail {
  const { what, error, reason, command, input } = describe(event);
  const why =
    [error, reason].filter((part) => part).join(': ') || 'No reason was given. The log and the run record say more.';
  // Of a run that failed over its list of clusters alone, nothing is missing.
  const again =
    input === undefined || input.length > repeatedCharacters || error === 'ClusterListError'
      ? []
      : ['Once the cause is gone, this works on what is missing:', `  ${command} ${shellQuoted(input)}`, ''];
  const heading = error === 'ClusterListError' ? 'List refused' : 'Run failed for good';
  const lines = [what, '', why, '', ...again, `More: docs/alarms.md, "${heading}".`];
  return {
    subject: subjectOf(service, ': failed for good'),
    text: lines.join('\n').replace(/(?!\n)\p{Cc}/gu, '?'),
  };
}

/** @returns the command that starts it again with an input; without an input nobody knows */
function describe(event: unknown) {
  const dropped = droppedEvent.safeParse(event);
  if (dropped.success) return ofFunction(dropped.data);
  const ended = endedExecution.safeParse(event);
  if (ended.success) return ofExecution(ended.data);
  const what = 'Something failed for good. The record of it:';
  const reason = JSON.stringify(event).slice(0, repeatedCharacters);
  return { what, error: undefined, reason, command: '', input: undefined };
}

function ofFunction({ requestContext, requestPayload, responsePayload }: DroppedEvent) {
  const { functionArn, condition, approximateInvokeCount: attempts } = requestContext;
  const [, , , region = '', , , name = ''] = functionArn.split(':');
  const isTooOld = condition === 'EventAgeExceeded';
  return {
    what: `The function ${name} failed for good, after ${attempts} attempts: ${isTooOld ? 'its event waited too long for its turn' : condition}.`,
    error: responsePayload?.errorType,
    reason: responsePayload?.errorMessage,
    command: `aws lambda invoke --region ${region} --function-name ${name} --invocation-type Event --cli-binary-format raw-in-base64-out /dev/stdout --payload`,
    input: JSON.stringify(requestPayload),
  };
}

function ofExecution({ detail }: EndedExecution) {
  const { stateMachineArn, name, status, input, error, cause } = detail;
  const [, , , region = ''] = stateMachineArn.split(':');
  return {
    what: `The execution ${name} of the state machine ${stateMachineArn} ended with ${status}.`,
    error,
    reason: cause,
    command: `aws stepfunctions start-execution --region ${region} --state-machine-arn ${stateMachineArn} --input`,
    input: input ?? undefined,
  };
}
