import { App, CfnResource, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { logicalStart } from '../../infra/stack-address';

/** The logical id that CDK makes of a resource below constructs of these ids. */
function logicalId(ids: readonly string[]): string {
  const stack = new Stack(new App(), 'Platform');
  const scope = ids.reduce<Construct>((parent, id) => new Construct(parent, id), stack);
  return stack.getLogicalId(new CfnResource(scope, 'Function', { type: 'AWS::Lambda::Function' }));
}

describe('the beginning of a logical id', () => {
  it.each([
    [['Logs', 'Collector']],
    [['Default', 'Collector']],
    [['Logs', 'Default', 'Collector']],
    [['MyCollector', 'Collector']],
    [['Resource', 'Collector']],
    [['fleet-logs', 'logs', 'Collector']],
    [['log-s', 'logs', 'Collector']],
    [['A', 'BC', 'ABC', 'Collector']],
    [['Logs', 'Logs', 'Logs', 'Collector']],
  ])('is what CDK makes of the ids %j', (ids) => {
    const id = logicalId(ids);
    expect(id.replace(/[0-9A-F]{8}$/, '')).toBe(logicalStart([...ids, 'Function']));
    // Commands know the place of a collector alone.
    expect(id).toMatch(new RegExp(`^${logicalStart([logicalStart(ids.slice(0, -1)), 'Collector', 'Function'])}`));
  });
});
