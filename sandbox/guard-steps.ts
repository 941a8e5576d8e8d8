import * as z from 'zod';
import { until } from './aws';
import { writeConfig } from './deploy-steps';
import { CommandError } from './shell';
import { collector, type Step } from './step';

const policySchema = z.looseObject({ Policy: z.string() });
const documentSchema = z.looseObject({ Statement: z.array(z.looseObject({ Sid: z.optional(z.string()) })) });

/** The statement that is taken out, and has to be found. */
const guard = 'SealsByAuditOnly';

const alarmsSchema = z.looseObject({ MetricAlarms: z.array(z.looseObject({ AlarmName: z.string() })) });
const messagesSchema = z.looseObject({
  Messages: z.optional(z.array(z.looseObject({ Body: z.string(), ReceiptHandle: z.string() }))),
});

/** What SNS puts into a queue, and in it what CloudWatch says. */
const envelopeSchema = z.looseObject({ Message: z.string() });
const alarmSchema = z.looseObject({ AlarmName: z.string() });

/** The alarm that a message is of; undefined: it is about a failure. */
function alarmIn(body: string): string | undefined {
  const { Message } = envelopeSchema.parse(JSON.parse(body));
  try {
    return alarmSchema.parse(JSON.parse(Message)).AlarmName;
  } catch {
    return undefined;
  }
}

export const guardSteps: readonly Step[] = [
  {
    name: 'statement removed',
    minutes: 2,
    usage: { reads: 100 },
    work: async (sandbox) => {
      const { aws, shell, name } = sandbox;
      const config = await writeConfig(sandbox);
      const { ArchiveBucket = '' } = await aws.outputsOf(name);
      const of = ['--bucket', ArchiveBucket];
      const example = { Policy: JSON.stringify({ Statement: [{ Sid: guard }, { Sid: 'NoDeletion' }] }) };
      const { Policy } = await aws.ask(['s3api', 'get-bucket-policy', ...of], policySchema, example);
      const document = documentSchema.parse(JSON.parse(Policy));
      const without = { ...document, Statement: document.Statement.filter(({ Sid }) => Sid !== guard) };
      if (without.Statement.length === document.Statement.length)
        throw new CommandError(`The policy of ${ArchiveBucket} has no statement ${guard}`);
      const put = (file: string, policy: string) =>
        aws.do(['s3api', 'put-bucket-policy', ...of, '--policy', `file://${shell.write(file, policy)}`]);
      try {
        await put('without.json', JSON.stringify(without));
        const { out } = await collector(sandbox, ['doctor', '--config', config], { codes: [1], out: guard });
        if (!out.includes(guard)) throw new CommandError(`doctor does not name ${guard}, which was taken out`);
      } finally {
        await put('before.json', Policy);
      }
      await collector(sandbox, ['doctor', '--config', config]);
      return `doctor named ${guard}, which was taken out, and ended with 0 once it was back`;
    },
  },
  {
    name: 'alarms',
    minutes: 4,
    usage: {},
    work: async ({ aws, shell, name }) => {
      const prefix = ['--alarm-name-prefix', `${name} - `];
      const example = { MetricAlarms: [{ AlarmName: `${name} - Run failed for good` }] };
      const { MetricAlarms } = await aws.ask(['cloudwatch', 'describe-alarms', ...prefix], alarmsSchema, example);
      if (MetricAlarms.length === 0) throw new CommandError(`The stack ${name} has no alarm`);
      const { QueueUrl = '' } = await aws.outputsOf(`${name}-service`);
      const names = MetricAlarms.map(({ AlarmName }) => AlarmName);
      const unheard = new Set<string | undefined>(names);
      for (const AlarmName of names) {
        const input = ['--alarm-name', AlarmName, '--state-value', 'ALARM', '--state-reason', 'sandbox'];
        await aws.do(['cloudwatch', 'set-alarm-state', ...input]);
      }
      const ask = ['sqs', 'receive-message', '--queue-url', QueueUrl, '--max-number-of-messages', '10'];
      const bodies = names.map((AlarmName) => JSON.stringify({ Message: JSON.stringify({ AlarmName }) }));
      const said = { Messages: bodies.map((Body) => ({ Body, ReceiptHandle: 'RECEIPT' })) };
      const hear = async () => {
        const { Messages = [] } = await aws.ask([...ask, '--wait-time-seconds', '5'], messagesSchema, said);
        for (const { Body, ReceiptHandle } of Messages) {
          unheard.delete(alarmIn(Body));
          await aws.do(['sqs', 'delete-message', '--queue-url', QueueUrl, '--receipt-handle', ReceiptHandle]);
        }
        return unheard.size === 0 ? true : undefined;
      };
      await until(shell, 'the messages of all alarms', 3, hear).catch((cause: Error) => {
        throw new CommandError(`Not heard of: ${[...unheard].join(', ')}. ${cause.message}`, { cause });
      });
      return `all ${MetricAlarms.length} alarms came through topic and key into a queue`;
    },
  },
];
