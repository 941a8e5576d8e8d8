import * as z from 'zod/mini';
import type { Mail } from '../audit/mail';
import { shellQuoted } from '../plain-text';

/** What Lambda sends about an event that it gave up (Lambda developer guide, "Adding a destination"). */
const droppedEvent = z.object({
  requestContext: z.object({ functionArn: z.string(), condition: z.string(), approximateInvokeCount: z.number() }),
  requestPayload: z.unknown(),
  responsePayload: z.nullish(z.object({ errorType: z.nullish(z.string()), errorMessage: z.nullish(z.string()) })),
});

/** What EventBridge sends about an execution of a state machine that has ended. */
const endedExecution = z.object({
  detail: z.object({
    stateMachineArn: z.string(),
    name: z.string(),
    status: z.string(),
    input: z.nullish(z.string()),
    error: z.nullish(z.string()),
    cause: z.nullish(z.string()),
  }),
});

/** Longest event that a command repeats, in characters. */
const repeatedCharacters = 2000;

/**
 * A mail about something that failed for good: what, why, and the command that starts it again.
 * @param event as Lambda or EventBridge sends it; any other is quoted
 * @param service name of the stack
 */
export function failureMail(event: unknown, service: string): Mail {
  const { what, reasons, command, input } = describe(event);
  const why = reasons.filter((part) => part).join(': ') || 'No reason was given. The log and the run record say more.';
  const again =
    input === undefined || input.length > repeatedCharacters || isListRefused(event)
      ? []
      : ['Once the cause is gone, this works on what is missing:', `  ${command} ${shellQuoted(input)}`, ''];
  const lines = [what, '', why, '', ...again, 'More: docs/alarms.md, "Run failed for good".'];
  const text = lines.join('\n').replace(/(?!\n)\p{Cc}/gu, '?');
  // SNS takes subjects of less than 100 characters.
  return { subject: `${service.slice(0, 70)}: failed for good`, text };
}

/** Whether clusters are missing of a run that wrote its records: its alarm may have a threshold of its own. */
export function isIncompleteRun(event: unknown): boolean {
  const { data: dropped } = droppedEvent.safeParse(event);
  const { data: ended } = endedExecution.safeParse(event);
  return dropped?.responsePayload?.errorType === 'RunIncompleteError' || ended?.detail.error === 'ShardsFailedError';
}

/** Whether a run archived everything in force and failed over its list of clusters: nothing is missing of it. */
function isListRefused(event: unknown): boolean {
  return droppedEvent.safeParse(event).data?.responsePayload?.errorType === 'ClusterListError';
}

/** @returns the command that starts it again with an input; without an input nobody knows */
function describe(event: unknown) {
  const dropped = droppedEvent.safeParse(event);
  if (dropped.success) return ofFunction(dropped.data);
  const ended = endedExecution.safeParse(event);
  if (ended.success) return ofExecution(ended.data);
  return {
    what: 'Something failed for good. The record of it:',
    reasons: [JSON.stringify(event).slice(0, repeatedCharacters)],
    command: '',
    input: undefined,
  };
}

function ofFunction({ requestContext, requestPayload, responsePayload }: z.output<typeof droppedEvent>) {
  const { functionArn, condition, approximateInvokeCount: attempts } = requestContext;
  const [, , , region = '', , , name = ''] = functionArn.split(':');
  const isTooOld = condition === 'EventAgeExceeded';
  return {
    what: `The function ${name} failed for good, after ${attempts} attempts: ${isTooOld ? 'its event waited too long for its turn' : condition}.`,
    reasons: [responsePayload?.errorType, responsePayload?.errorMessage],
    command: `aws lambda invoke --region ${region} --function-name ${name} --invocation-type Event --cli-binary-format raw-in-base64-out /dev/stdout --payload`,
    input: JSON.stringify(requestPayload),
  };
}

function ofExecution({ detail }: z.output<typeof endedExecution>) {
  const { stateMachineArn, name, status, input, error, cause } = detail;
  const [, , , region = ''] = stateMachineArn.split(':');
  return {
    what: `The execution ${name} of the state machine ${stateMachineArn} ended with ${status}.`,
    reasons: [error, cause],
    command: `aws stepfunctions start-execution --region ${region} --state-machine-arn ${stateMachineArn} --input`,
    input: input ?? undefined,
  };
}
