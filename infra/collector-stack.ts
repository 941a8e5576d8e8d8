import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Alerts } from './alerts';
import { ApiKeySecret } from './api-key-secret';
import { Archive } from './archive';
import { AthenaTables } from './athena-tables';
import { Collector } from './collector';
import type { CollectorConfig } from './config/config';
import { FanOut } from './fan-out';
import { NextSteps } from './next-steps';
import { Observability } from './observability';
import { RunSchedule } from './run-schedule';
import { TestEvents } from './test-events';

/** Everything that one configuration file deploys. The stack only composes; each construct owns its resources and grants. */
export class CollectorStack extends Stack {
  constructor(scope: Construct, config: CollectorConfig) {
    super(scope, config.name, {
      description: 'Archives the logs and manifests of a fleet of clusters, on a schedule',
      terminationProtection: true,
      tags: config.tags,
    });
    const alerts = new Alerts(this, 'Alerts', { config });
    const archive = new Archive(this, 'Archive', { config });
    const apiKeySecret = new ApiKeySecret(this, 'ApiKey', { config });
    const collector = new Collector(this, 'Collector', { config, archive, apiKeySecret, alerts });
    const parts = { config, function: collector.function };
    const fanOut = config.shards > 1 ? new FanOut(this, 'FanOut', parts) : undefined;
    const { stateMachine } = fanOut ?? {};
    const { deadLetterQueue } = new RunSchedule(this, 'Schedule', { ...parts, stateMachine });
    const seen = { ...parts, logGroup: collector.logGroup, archiveBucket: archive.bucket, stateMachine };
    new Observability(this, 'Observability', { ...seen, alerts, deadLetterQueue, fanOut });
    if (config.testEvents) new TestEvents(this, 'TestEvents', seen);
    if (config.athenaTables) new AthenaTables(this, 'AthenaTables', seen);
    new NextSteps(this, 'NextSteps', { ...seen, apiKeySecret });
  }
}
