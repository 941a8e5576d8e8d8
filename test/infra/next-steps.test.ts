import { exampleTemplate, textOf } from './example-stack';

function outputs(changes?: Record<string, unknown>): Record<string, string> {
  const found = exampleTemplate(changes).findOutputs('*');
  return Object.fromEntries(Object.entries(found).map(([id, { Value }]) => [id, textOf(Value)]));
}

describe('the outputs', () => {
  it('set the key without an argument or an entry in the history of the shell', () => {
    const { SetApiKey } = outputs();
    expect(SetApiKey).toBe(
      'read -rs KEY && printf %s "$KEY" | aws secretsmanager put-secret-value --region <AWS::Region> ' +
        `--secret-id '<ApiKeySecret>' --secret-string file:///dev/stdin; unset KEY`,
    );
  });

  it('do not replace the value of an existing secret, which may hold more than the key', () => {
    expect(outputs({ apiKeySecret: 'platform/clusters' })).not.toHaveProperty('SetApiKey');
  });

  it('start a run by hand without a connection that waits in silence for its end', () => {
    expect(outputs().CollectNow).toBe(
      'aws lambda invoke --region <AWS::Region> --function-name <CollectorFunction> --invocation-type Event ' +
        "--cli-binary-format raw-in-base64-out --payload '{}' /dev/stdout",
    );
  });

  it('start an execution for a fleet in shards, and link to the executions', () => {
    const { CollectNow, RunsConsole } = outputs({ shards: 4 });
    expect(CollectNow).toBe(
      "aws stepfunctions start-execution --region <AWS::Region> --state-machine-arn <FanOutStateMachine> --input '{}'",
    );
    expect(RunsConsole).toMatch(/#\/statemachines\/view\/<FanOutStateMachine>$/);
    expect(outputs()).not.toHaveProperty('RunsConsole');
  });
});
