import { Annotations, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { longestSeconds } from '../lambda/time-limits';
import { hoursText } from './alarm-windows';
import type { CollectorConfig } from './config/config';
import { isExampleAddress } from './config/schema-values';
import { NextSteps } from './next-steps';
import { Observability } from './observability';
import { createParts, type Parts } from './parts';

/** From so many clusters on, a run in which none is missing is an exception. */
const manyClusters = 100;

/** Everything that one configuration file deploys: its parts, what watches them, and what links to them. */
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
    if (isExampleAddress(config.service.baseUrl)) this.#warnOfExample(config.service.baseUrl);
    const parts = createParts(this, config);
    this.#warnOfOverlap(parts);
    this.#suggestPageFrom(config);
    if (config.clusterList !== undefined) this.#sayWhereClustersAre(config.clusterList.from);
    new Observability(this, 'Observability', parts);
    new NextSteps(this, 'NextSteps', parts);
  }

  /** Two runs at once ask the service for twice as much, and they overlap just when it is slow. */
  #warnOfOverlap({ config, schedule }: Parts): void {
    const { shortestHours } = schedule.gap;
    const longest = longestSeconds(config) / 3600;
    if (!config.schedule.enabled || config.limits.oneRunAtATime || shortestHours >= longest) return;
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:overlapping-runs',
      `The schedule fires again after ${hoursText(shortestHours)}, and a run with its retries may last ${hoursText(longest)}: runs may ` +
        'overlap, each at the full rate. limits.oneRunAtATime lets one wait for the other (docs/operations.md, "One run at a time").',
    );
  }

  #suggestPageFrom({ clusters, alerts }: CollectorConfig): void {
    if (alerts.pageFrom !== undefined || clusters.length < manyClusters) return;
    Annotations.of(this).addInfoV2(
      'cluster-log-collector:page-from',
      `Of ${clusters.length} clusters one is nearly always missing, and every incomplete run pages. Set alerts.pageFrom, such as ` +
        '{ "missingPercent": 5 }: docs/alarms.md, "Run failed for good".',
    );
  }

  #sayWhereClustersAre(from: string): void {
    Annotations.of(this).addInfoV2(
      'cluster-log-collector:clusters-from-outside',
      `No cluster is deployed: each attempt of a run reads the list of clusters from ${from} (docs/operations.md, "A list of clusters from outside").`,
    );
  }

  #warnOfExample(baseUrl: string): void {
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:example-address',
      `service.baseUrl is ${baseUrl}, an address for examples at which nothing answers. ` +
        '"npm run deploy" refuses it: name your own service first.',
    );
  }
}
