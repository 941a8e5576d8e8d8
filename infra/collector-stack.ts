import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { CollectorConfig } from './config/config';
import { ConfiguredCollector } from './configured-collector';

/** The stack of this repository's own app: one configuration file, and nothing else. */
export class CollectorStack extends Stack {
  constructor(scope: Construct, config: CollectorConfig) {
    super(scope, config.name, {
      description: 'Archives the logs and manifests of a fleet of clusters, on a schedule',
      // The command line switches it on before it creates anything, so a failed first deployment has to be unprotected by
      // hand: docs/operations.md, "When the first deployment fails" (read in aws-cdk, deployments/deploy-stack.ts).
      terminationProtection: true,
      tags: config.tags,
      env: config.deployTo,
    });
    // CDK leaves this id out of logical ids.
    new ConfiguredCollector(this, 'Default', config);
  }
}
