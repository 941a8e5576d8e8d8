import { CfnSchema } from 'aws-cdk-lib/aws-eventschemas';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { CollectorConfig } from './config/config';

/**
 * The registry in which Lambda's console looks for shared events. There is one per account and region, and other
 * functions use it too, so a stack must not own it.
 */
const registryName = 'lambda-testevent-schemas';

/**
 * Offers events for starts by hand in the Test tab of Lambda's console, in the form that the console itself writes: an
 * OpenAPI document with the events as its examples.
 * @param events by the names that the console shows
 */
export function offerTestEvents(
  scope: Construct,
  target: IFunction,
  description: string,
  events: Readonly<Record<string, object>>,
): void {
  const examples = Object.fromEntries(Object.entries(events).map(([name, value]) => [name, { value }]));
  const content = {
    openapi: '3.0.0',
    info: { version: '1.0.0', title: 'Event' },
    paths: {},
    components: { schemas: { Event: { type: 'object' } }, examples },
  };
  new CfnSchema(scope, 'Schema', {
    registryName,
    schemaName: `_${target.functionName}-schema`,
    type: 'OpenApi3',
    description,
    content: JSON.stringify(content),
  });
}

/** Shared events of the collector. */
export function testEvents({ clusters }: Pick<CollectorConfig, 'clusters'>): Record<string, object> {
  const [first] = clusters;
  return {
    'everything-now': {},
    'one-cluster': { clusters: [first?.uid] },
    'dry-run': { dryRun: true },
    'complete-a-run': { run: '2026-11-20T10:00:00.000Z' },
  };
}

/** Shared events of the audit. */
export const auditTestEvents = {
  'audit-now': {},
  'make-up-for-an-audit': { scheduledTime: '2026-11-20T06:30:00Z' },
} as const;
