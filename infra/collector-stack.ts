import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Alerts } from './alerts';
import { ApiKeySecret } from './api-key-secret';
import { Archive } from './archive';
import { Collector } from './collector';
import type { CollectorConfig } from './config';
import { NextSteps } from './next-steps';
import { Observability } from './observability';
import { RunSchedule } from './run-schedule';
import { TestEvents } from './test-events';

/** Everything one configuration file deploys. It only composes: what a part is and may do, the part itself says. */
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
    const { deadLetterQueue } = new RunSchedule(this, 'Schedule', { config, function: collector.function });
    const seen = { config, function: collector.function, logGroup: collector.logGroup, archiveBucket: archive.bucket };
    new Observability(this, 'Observability', { ...seen, alerts, deadLetterQueue });
    if (config.testEvents) new TestEvents(this, 'TestEvents', seen);
    new NextSteps(this, 'NextSteps', { ...seen, apiKeySecret });
  }
}
