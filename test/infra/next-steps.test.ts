import { exampleTemplate, tell } from './example-stack';

function outputs(changes?: Record<string, unknown>): Record<string, string> {
  const found = exampleTemplate(changes).findOutputs('*');
  return Object.fromEntries(Object.entries(found).map(([id, { Value }]) => [id, tell(Value)]));
}

test('the key is set without passing through arguments or the history of a shell', () => {
  const { SetApiKey } = outputs();
  expect(SetApiKey).toBe(
    'read -rs KEY && printf %s "$KEY" | aws secretsmanager put-secret-value --region <AWS::Region> ' +
      `--secret-id '<ApiKeySecret>' --secret-string file:///dev/stdin; unset KEY`,
  );
  expect(outputs({ apiKeySecret: 'platform/clusters' }).SetApiKey).toContain(`--secret-id 'platform/clusters'`);
});

test('a run by hand is not started twice by a command line that lost its patience', () => {
  expect(outputs().CollectNow).toContain('--function-name <CollectorFunction> --cli-read-timeout 0');
});

test('the links lead to the function, the archive, the log and the dashboard', () => {
  const { TestConsole, ArchiveConsole, ArchiveBucket, LogConsole, DashboardConsole } = outputs();
  expect(TestConsole).toMatch(/#\/functions\/<CollectorFunction>\?tab=testing$/);
  expect(ArchiveConsole).toMatch(/\/s3\/buckets\/<ArchiveBucket>\?/);
  expect(ArchiveBucket).toBe('<ArchiveBucket>');
  expect(LogConsole).toMatch(/log-group\/<CollectorLogs>$/);
  expect(DashboardConsole).toMatch(/#dashboards\/dashboard\/cluster-log-collector$/);
});

test('a fleet in shards is collected by an execution, and a link leads to how it ends', () => {
  const { CollectNow, RunsConsole } = outputs({ shards: 4 });
  expect(CollectNow).toBe(
    "aws stepfunctions start-execution --region <AWS::Region> --state-machine-arn <FanOutStateMachine> --input '{}'",
  );
  expect(RunsConsole).toMatch(/#\/statemachines\/view\/<FanOutStateMachine>$/);
  expect(outputs()).not.toHaveProperty('RunsConsole');
});
