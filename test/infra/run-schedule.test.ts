import { Match } from 'aws-cdk-lib/assertions';
import { parseEvent } from '../../lambda/collect/event';
import { exampleTemplate, resourceOf, templateOf } from './example-stack';

const template = exampleTemplate();

describe('the schedule', () => {
  it('fires at the configured times, without a flexible window', () => {
    template.resourceCountIs('AWS::Scheduler::Schedule', 1);
    const schedule = { expression: 'cron(30 2 * * ? *)', timeZone: 'Europe/Berlin' };
    exampleTemplate({ schedule }).hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: schedule.expression,
      ScheduleExpressionTimezone: schedule.timeZone,
      FlexibleTimeWindow: { Mode: 'OFF' },
      State: 'ENABLED',
    });
  });

  it('passes the scheduled time in the form that the function reads', () => {
    const { Target } = resourceOf(templateOf(), 'AWS::Scheduler::Schedule').Properties;
    const { Input } = Target as { Input: string };
    const event = JSON.parse(Input.replace('<aws.scheduler.scheduled-time>', '2026-11-20T10:00:00Z'));
    expect(event).toEqual({ scheduledTime: '2026-11-20T10:00:00Z' });
    expect(parseEvent(event, [], new Date('2026-11-20T10:00:00Z')).run).toEqual(new Date('2026-11-20T10:00:00Z'));
  });

  it('tries to deliver for an hour, and then keeps the event for two weeks', () => {
    template.hasResourceProperties('AWS::Scheduler::Schedule', {
      Target: {
        RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 185 },
        RoleArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^ScheduleRole'), 'Arn'] },
      },
    });
    template.hasResourceProperties('AWS::SQS::Queue', { MessageRetentionPeriod: 14 * 24 * 3600 });
  });
});
