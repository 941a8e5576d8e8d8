import { PublishCommand } from '@aws-sdk/client-sns';
import type { Check } from './conformance';
import { failureOf } from './expect-failure';

export const topicChecks: Readonly<Record<string, Check>> = {
  'takes a message with a subject, and gives it an identifier': async ({ sns, topic }) => {
    const message = { TopicArn: topic, Subject: 'OK: 4 of 4 runs complete', Message: 'Zeile 1\nline 2 & <3> ü' };
    const { MessageId } = await sns.send(new PublishCommand(message));
    expect(MessageId).toMatch(/^[0-9a-f-]{36}$/);
  },

  'refuses a subject that is long, of two lines or outside of ASCII': async ({ sns, topic }) => {
    for (const Subject of ['x'.repeat(101), 'two\nlines', 'größer', ' begins with a space'])
      expect(
        await failureOf(sns.send(new PublishCommand({ TopicArn: topic, Subject, Message: 'text' }))),
      ).toMatchObject({ status: 400, code: 'InvalidParameterException' });
  },

  'refuses an empty message': async ({ sns, topic }) => {
    const publish = sns.send(new PublishCommand({ TopicArn: topic, Message: '' }));
    expect(await failureOf(publish)).toMatchObject({ status: 400, code: 'InvalidParameterException' });
  },

  'refuses a caller without the permission to publish': async ({ writer, topic }) => {
    const publish = writer.sns.send(new PublishCommand({ TopicArn: topic, Message: 'text' }));
    expect(await failureOf(publish)).toMatchObject({ status: 403, code: 'AuthorizationErrorException' });
  },
};
