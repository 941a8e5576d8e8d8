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
    expect(outputs({ apiKeySecret: 'platform/clusters' }).SetApiKey).toContain(`--secret-id 'platform/clusters'`);
  });

  it('start a run by hand once: the command line does not give up and start it again', () => {
    expect(outputs().CollectNow).toContain('--function-name <CollectorFunction> --cli-read-timeout 0');
  });

  it('link to the function, the archive, the log and the dashboard', () => {
    const { TestConsole, ArchiveConsole, ArchiveBucket, LogConsole, DashboardConsole } = outputs();
    expect(TestConsole).toMatch(/#\/functions\/<CollectorFunction>\?tab=testing$/);
    expect(ArchiveConsole).toMatch(/\/s3\/buckets\/<ArchiveBucket>\?/);
    expect(ArchiveBucket).toBe('<ArchiveBucket>');
    expect(LogConsole).toMatch(/log-group\/<CollectorLogs>$/);
    expect(DashboardConsole).toMatch(/#dashboards\/dashboard\/cluster-log-collector$/);
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
