import { authorize } from '../aws/iam/authorize';
import { type LocalMessages, MessageRefusedError } from './local-messages';
import { type Role, readRole } from './role';
import { type Schedule, scheduledEvent } from './schedule';
import type { StackTemplate } from './stack-template';
import { UnsupportedTemplateError } from './template';

/** The schedule did not reach its target. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

/** What a schedule can start here. */
export interface ScheduleTarget {
  readonly arn: string;
  /** What starts it: `lambda:InvokeFunction`. */
  readonly action: string;
}

/**
 * Does what EventBridge Scheduler does at a time of the schedule, up to the delivery.
 * @returns the event that the target is to be started with
 * @throws ScheduleError if the schedule is disabled, or its role may not start the target; the event then lies in the
 * dead-letter queue, or the message says why not
 */
export function fireSchedule(
  stack: StackTemplate,
  schedule: Schedule | undefined,
  { arn, action }: ScheduleTarget,
  messages: LocalMessages,
  time: Date,
): unknown {
  if (schedule === undefined) throw new ScheduleError('Cannot fire the schedule: the stack has none.');
  if (!schedule.enabled) throw new ScheduleError('Cannot fire the schedule: it is disabled.');
  if (schedule.targetArn !== arn)
    throw new UnsupportedTemplateError(
      `Cannot fire the schedule: its target ${schedule.targetArn} does not run locally.`,
    );
  const { accountId, region } = stack.location;
  const scheduler = readRole(stack, schedule.roleArn, {
    principal: 'scheduler.amazonaws.com',
    // The scheduler names the group, not the schedule.
    sourceArn: `arn:aws:scheduler:${region}:${accountId}:schedule-group/${schedule.group}`,
  });
  const event = scheduledEvent(schedule, time);
  const { allowed, reason } = authorize({
    identityPolicies: scheduler.policies,
    principalArn: scheduler.arn,
    action,
    resource: arn,
    context: {},
  });
  if (allowed) return event;
  throw new ScheduleError(
    `Delivery to ${arn} refused: ${scheduler.arn} is not authorized to perform ${action} ${reason}. ${keepUndelivered(messages, schedule, scheduler, event)}`,
  );
}

/** @returns where the undelivered event is now, as a sentence */
function keepUndelivered(
  messages: LocalMessages,
  { deadLetterArn }: Schedule,
  scheduler: Role,
  event: unknown,
): string {
  if (deadLetterArn === undefined) return 'The event is lost: the schedule has no dead-letter queue.';
  try {
    messages.send(deadLetterArn, scheduler, JSON.stringify(event));
    return 'The event lies in the dead-letter queue.';
  } catch (error) {
    if (error instanceof MessageRefusedError) return `The event is lost. ${error.message}`;
    throw error;
  }
}
