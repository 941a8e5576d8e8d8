import { Match } from 'aws-cdk-lib/assertions';
import { testEvents } from '../../infra/test-events';
import { parseEvent } from '../../lambda/event';
import { exampleConfig } from './example-config';
import { exampleTemplate, resourceOf, templateOf } from './example-stack';

const config = exampleConfig();

describe('the shared test events', () => {
  it.each(Object.entries(testEvents(config)))('are understood by the function: %s', (_, event) => {
    expect(() => parseEvent(event, config.clusters)).not.toThrow();
  });

  it('collect everything now, one cluster, dry, and complete a run', () => {
    const requests = Object.values(testEvents(config)).map((event) => parseEvent(event, config.clusters));
    expect(requests).toEqual([
      expect.objectContaining({ run: undefined, clusters: undefined, dryRun: false }),
      expect.objectContaining({ clusters: ['prod-eu-1'] }),
      expect.objectContaining({ dryRun: true }),
      expect.objectContaining({ completes: true }),
    ]);
  });

  it('have the name of the function, in a registry that the stack does not own', () => {
    const template = exampleTemplate({ testEvents: true });
    template.hasResourceProperties('AWS::EventSchemas::Schema', {
      RegistryName: 'lambda-testevent-schemas',
      SchemaName: { 'Fn::Join': ['', ['_', { Ref: Match.stringLikeRegexp('^CollectorFunction') }, '-schema']] },
      Type: 'OpenApi3',
    });
    template.resourceCountIs('AWS::EventSchemas::Registry', 0);
    const { Content } = resourceOf(templateOf({ testEvents: true }), 'AWS::EventSchemas::Schema').Properties;
    const { openapi, components } = JSON.parse(Content as string);
    expect(openapi).toBe('3.0.0');
    expect(components.examples['dry-run']).toEqual({ value: { dryRun: true } });
  });

  it('exist only if they are configured', () => {
    exampleTemplate().resourceCountIs('AWS::EventSchemas::Schema', 0);
  });
});
