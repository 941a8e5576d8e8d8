import { Annotations, Stack, Token } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { dayMs } from '../archive/format/clocks';
import type { ConfiguredCluster } from '../archive/format/configuration';
import { dateOf } from '../archive/format/keys';
import { context } from '../cdk.json';
import type { CollectorConfig } from './config/config';
import { isExampleAddress, isOwnMachine } from './config/schema-values';
import type { OutsideList } from './config/service-members';
import { describeOverlap } from './limits';
import { NextSteps } from './next-steps';
import { Observability } from './observability';
import { createParts, type Parts } from './parts';
import { logicalStart } from './stack-address';

/** From so many clusters on, a run in which none is missing is an exception. */
const manyClusters = 100;

/** Days ahead above which the end of being optional is rather a wrong year than meant. */
const farAheadDays = 366;

/** Clusters that a warning names. */
const mostNamed = 5;

/** Everything that one configuration deploys: its parts, what watches them, and what links to them. */
export class ConfiguredCollector extends Construct {
  /** The configured name: the first word of alarms and mails. */
  readonly name: string;
  /** The archive. It outlives the stack. */
  readonly bucket: IBucket;
  /** Encrypts the archive; undefined if `archive.kms` is left out. */
  readonly encryptionKey: IKey | undefined;
  readonly functions: {
    /** Collects. */
    readonly collect: IFunction;
    /** Verifies and seals the archive; undefined without `audit`. */
    readonly audit: IFunction | undefined;
    /** Tells people what failed for good. */
    readonly notify: IFunction;
  };
  readonly topics: {
    /** Wakes people. */
    readonly page: ITopic;
    /** Gets everything else; the same topic if there is one list of recipients. */
    readonly inform: ITopic;
  };
  readonly alarms: readonly Alarm[];
  readonly #parts: Parts;

  constructor(scope: Construct, id: string, config: CollectorConfig) {
    super(scope, id);
    // An app of somebody else may have other feature flags, or none: access logs, for one, then need an ACL that is refused.
    for (const [flag, value] of Object.entries(context))
      if (flag.startsWith('@aws-cdk/')) this.node.setContext(flag, value);
    const parts = createParts(this, config);
    this.#parts = parts;
    if (isExampleAddress(config.service.baseUrl)) this.#warnOfExample(config.service.baseUrl);
    if (isOwnMachine(config.service.baseUrl)) this.#warnOfOwnMachine(config.service.baseUrl);
    this.#warnOfOverlap();
    this.#suggestPageFrom(config);
    if (config.clusterList !== undefined) this.#sayWhereClustersAre(config.clusterList);
    this.#warnOfStamps(config);
    this.#warnOfHeartbeat(config);
    this.#warnOfOptional(config.clusters, new Date());
    this.alarms = new Observability(this, 'Observability', parts).alarms;
    new NextSteps(this, 'NextSteps', parts);
    const { archive, collector, audit, failures, page, inform } = parts;
    this.name = config.name;
    this.bucket = archive.bucket;
    this.encryptionKey = archive.key;
    this.functions = { collect: collector.function, audit: audit?.function, notify: failures.function };
    this.topics = { page: page.topic, inform: inform.topic };
  }

  /** Lets somebody list and read the whole archive, and nothing else. */
  grantRead(reader: IGrantable): Grant {
    return this.#parts.archive.grantRead(reader);
  }

  #warnOfOverlap(): void {
    const { config, schedule } = this.#parts;
    const overlap = describeOverlap(config, schedule.gap.shortestHours);
    if (overlap === undefined) return;
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:overlapping-runs',
      `${overlap}. limits.oneRunAtATime lets one wait for the other (docs/operations.md, "One run at a time").`,
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

  /**
   * Says too what the owner of the list has to allow. The role is named by the beginning of its name: as principal it would have
   * to exist, and would be another one after a removal and a return.
   */
  #sayWhereClustersAre({ from, kmsKeyArn }: OutsideList): void {
    const { stack, place } = this.#parts.address;
    const account = Stack.of(this).account;
    const own = Token.isUnresolved(account) ? 'ACCOUNT' : account;
    const principal = `arn:aws:iam::${own}:role/${stack}-${logicalStart([place, 'Collector', 'Role'])}*`;
    const statement = (Action: string, Resource: string) =>
      JSON.stringify({
        ...{
          Sid: 'CollectorReadsList',
          Effect: 'Allow',
          Principal: { AWS: `arn:aws:iam::${own}:root` },
          Action,
          Resource,
        },
        Condition: { ArnLike: { 'aws:PrincipalArn': principal } },
      });
    const ofKey = kmsKeyArn && `\nThe policy of the key ${kmsKeyArn} has to allow: ${statement('kms:Decrypt', '*')}`;
    Annotations.of(this).addInfoV2(
      'cluster-log-collector:clusters-from-outside',
      `No cluster is deployed: each attempt of a run reads the list of clusters from ${from} (docs/operations.md, "A list of clusters from outside").\n` +
        `If the bucket is another account's, its policy has to allow: ${statement('s3:GetObject', from.replace('s3://', 'arn:aws:s3:::'))}${ofKey ?? ''}\n` +
        `${own === 'ACCOUNT' ? 'ACCOUNT is the account of this stack. ' : ''}Of a long name of the stack CloudFormation takes the beginning: compare the output CollectorRole.`,
    );
  }

  #warnOfStamps({ network, audit }: CollectorConfig): void {
    if (network === undefined || audit?.timestamps === undefined) return;
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:stamps-from-a-network',
      'audit.timestamps with network: the audit needs a way out to the authorities, which no endpoint of AWS is. Without one it ' +
        'seals and mails all the same, without stamps (docs/background.md, "A VPC without NAT").',
    );
  }

  #warnOfHeartbeat({ network, alerts }: CollectorConfig): void {
    if (network === undefined || alerts.heartbeat === undefined) return;
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:heartbeat-from-a-network',
      'alerts.heartbeat with network: collector and audit need a way out to the monitoring service, which no endpoint of AWS is: NAT, and ' +
        'its port in the security groups. Without one runs and audits go on, and the service hears of none (docs/background.md, "A VPC without NAT").',
    );
  }

  #warnOfOptional(clusters: readonly ConfiguredCluster[], now: Date): void {
    const [today, farAhead] = [dateOf(now), dateOf(new Date(now.getTime() + farAheadDays * dayMs))];
    const warn = (id: string, isOdd: (until: string) => boolean, what: string) => {
      const odd = clusters.flatMap(({ uid, optional }) =>
        typeof optional === 'object' && isOdd(optional.until) ? `${uid} (${optional.until})` : [],
      );
      if (odd.length === 0) return;
      const named = odd.length > mostNamed ? [...odd.slice(0, mostNamed), `${odd.length - mostNamed} more`] : odd;
      Annotations.of(this).addWarningV2(
        `cluster-log-collector:${id}`,
        `clusters: optional.until ${what} (docs/operations.md, "Clusters"): ${named.join(', ')}.`,
      );
    };
    warn(
      'optional-ended',
      (until) => until < today,
      'is over, so that no run is complete without these clusters any more',
    );
    warn('optional-far-ahead', (until) => until > farAhead, `is more than ${farAheadDays} days ahead`);
  }

  #warnOfExample(baseUrl: string): void {
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:example-address',
      `service.baseUrl is ${baseUrl}, an address for examples at which nothing answers. Name your own service before you deploy.`,
    );
  }

  #warnOfOwnMachine(baseUrl: string): void {
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:own-machine',
      `service.baseUrl is ${baseUrl}: no function in AWS reaches this machine; name another address before you deploy.`,
    );
  }
}
