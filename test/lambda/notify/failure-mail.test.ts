import { spawnSync } from 'node:child_process';
import { failureMail } from '../../../lambda/notify/failure-mail';

const functionArn = 'arn:aws:lambda:eu-central-1:111122223333:function:collector:$LATEST';

const dropped = (changes: object = {}) => ({
  version: '1.0',
  requestContext: { requestId: 'r', functionArn, condition: 'RetriesExhausted', approximateInvokeCount: 3 },
  requestPayload: { scheduledTime: '2026-11-20T10:00:00Z' },
  responsePayload: { errorType: 'RunIncompleteError', errorMessage: 'Attempt 3 is incomplete.\n- log of cluster a' },
  ...changes,
});

const stateMachineArn = 'arn:aws:states:eu-central-1:111122223333:stateMachine:shards';

const ended = (detail: object = {}) => ({
  'detail-type': 'Step Functions Execution Status Change',
  detail: { stateMachineArn, name: 'e-1', status: 'FAILED', input: '{"scheduledTime":"x"}', ...detail },
});

/** The arguments of a command as a shell sees them. */
function argumentsOf(text: string): string[] {
  const command = text.split('\n').find((line) => line.startsWith('  aws ')) ?? '';
  const { stdout } = spawnSync('bash', ['-c', `for one in ${command}; do printf '%s\\0' "$one"; done`]);
  return stdout.toString().split('\0').slice(0, -1);
}

describe('a mail about what failed for good', () => {
  it('says of an event what failed, why, and what to type', () => {
    const { subject, text } = failureMail(dropped(), 'fleet');
    expect(subject).toBe('fleet: failed for good');
    expect(text.split('\n').slice(0, 4)).toEqual([
      'The function collector failed for good, after 3 attempts: RetriesExhausted.',
      '',
      'RunIncompleteError: Attempt 3 is incomplete.',
      '- log of cluster a',
    ]);
    expect(argumentsOf(text)).toEqual(
      expect.arrayContaining(['invoke', 'collector', '{"scheduledTime":"2026-11-20T10:00:00Z"}']),
    );
  });

  it('says of an event that grew too old that it waited', () => {
    const requestContext = { functionArn, condition: 'EventAgeExceeded', approximateInvokeCount: 0 };
    const { text } = failureMail(dropped({ requestContext, responsePayload: undefined }), 'fleet');
    expect(text).toContain('after 0 attempts: its event waited too long for its turn.');
    expect(text).toContain('No reason was given.');
  });

  it.each([
    '{"scheduledTime":"x"} and "quotes"',
    'a\nb',
    "it's",
    '',
  ])('quotes the cause %j of an execution as it is', (cause) => {
    const { text } = failureMail(ended({ error: 'ShardsFailedError', cause }), 'fleet');
    expect(text).toContain(cause);
    expect(text).toMatch(/^The execution e-1 of the state machine arn:\S+ ended with FAILED\./);
    expect(argumentsOf(text).slice(-1)).toEqual(['{"scheduledTime":"x"}']);
  });

  it('of an execution that timed out has no cause', () => {
    expect(failureMail(ended({ status: 'TIMED_OUT', error: null, cause: null }), 'fleet').text).toContain('TIMED_OUT');
  });

  it('repeats an event with an apostrophe so that a shell takes it, and one that is too long not at all', () => {
    const requestPayload = { clusters: ["it's $HOME `id`"] };
    expect(argumentsOf(failureMail(dropped({ requestPayload }), 'fleet').text).slice(-1)).toEqual([
      JSON.stringify(requestPayload),
    ]);
    const long = failureMail(dropped({ requestPayload: { clusters: ['x'.repeat(2000)] } }), 'fleet').text;
    expect(argumentsOf(long)).toEqual([]);
  });

  it('does not say how to collect a run late of which nothing is missing, because only its list was refused', () => {
    const responsePayload = { errorType: 'ClusterListError', errorMessage: 'not in force' };
    const { text } = failureMail(dropped({ responsePayload }), 'fleet');
    expect(text).toContain('ClusterListError: not in force');
    expect(text).not.toMatch(/missing|aws lambda invoke/);
  });

  it.each([[null], [7], ['text'], [{}], [{ detail: 7 }]])('is made of anything: %j', (event) => {
    expect(failureMail(event, 'n'.repeat(200))).toEqual({
      subject: `${'n'.repeat(82)}: failed for good`,
      text: expect.stringContaining(JSON.stringify(event)),
    });
  });
});
