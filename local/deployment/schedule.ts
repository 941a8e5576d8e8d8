import * as z from 'zod';
import { refusalOf } from '../aws/iam/authorize';
import type { LocalMessages } from './local-messages';
import { readRole } from './role';
import type { StackTemplate } from './stack-template';

/** The schedule did not reach its target. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';
}

const scheduleSchema = z.strictObject({
  GroupName: z.string().default('default'),
  ScheduleExpression: z.string(),
  ScheduleExpressionTimezone: z.string().default('UTC'),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  Target: z.strictObject({
    Arn: z.string(),
    DeadLetterConfig: z.strictObject({ Arn: z.string() }),
    Input: z.string(),
    RetryPolicy: z.unknown().optional(),
    RoleArn: z.string(),
  }),
});

const ignored = ['Description', 'FlexibleTimeWindow', 'Name'];

/** What the template says about a schedule. */
export type Schedule = z.output<typeof scheduleSchema>;

export function readSchedules(stack: StackTemplate): Schedule[] {
  return stack.resourcesOf('AWS::Scheduler::Schedule').map((resource) => resource.read(scheduleSchema, ignored));
}

/**
 * Does what EventBridge Scheduler does at a time of the schedule, up to the delivery.
 * @returns the event to start the schedule's target with, and the target's ARN
 * @throws ScheduleError if the schedule is disabled, or its role may not start the target; the message says whether the
 * event lies in the dead-letter queue
 */
export function fireSchedule(
  stack: StackTemplate,
  schedule: Schedule | undefined,
  messages: LocalMessages,
  time: Date,
): { readonly event: object; readonly target: string } {
  if (schedule === undefined) throw new ScheduleError('Cannot fire the schedule: the stack has none.');
  const { State, GroupName, Target } = schedule;
  if (State === 'DISABLED') throw new ScheduleError('Cannot fire the schedule: it is disabled.');
  const { accountId, region } = stack.location;
  // The scheduler names the group, not the schedule.
  const group = `arn:aws:scheduler:${region}:${accountId}:schedule-group/${GroupName}`;
  const scheduler = readRole(stack, Target.RoleArn, 'scheduler.amazonaws.com', group);
  // The scheduler fires at whole seconds; a local run may start between two of them.
  const scheduledTime = time.toISOString().replace('.000Z', 'Z');
  const event = JSON.parse(Target.Input.replace('<aws.scheduler.scheduled-time>', scheduledTime));
  const action = Target.Arn.startsWith('arn:aws:states:') ? 'states:StartExecution' : 'lambda:InvokeFunction';
  const refusal = refusalOf(scheduler, { action, resource: Target.Arn });
  if (refusal === undefined) return { event, target: Target.Arn };
  const lost = messages.send(scheduler, { to: Target.DeadLetterConfig.Arn, body: JSON.stringify(event) });
  const kept = lost === undefined ? 'The event lies in the dead-letter queue.' : `The event is lost. ${lost}`;
  throw new ScheduleError(`Delivery to ${Target.Arn} refused: ${refusal}. ${kept}`);
}
