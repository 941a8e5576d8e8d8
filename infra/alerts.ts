import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import * as subscriptions from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { CollectorConfig } from './config/config';

export interface AlertsProps {
  readonly config: Pick<CollectorConfig, 'name' | 'alerts'>;
}

/** Where people are told: one topic for alarms and for runs that failed for good. */
export class Alerts extends Construct {
  readonly topic: sns.Topic;
  /** The managed key alias/aws/sns would not do: CloudWatch may not use it, and alarms would stay silent. */
  readonly key: kms.Key;

  constructor(scope: Construct, id: string, { config }: AlertsProps) {
    super(scope, id);
    this.key = new kms.Key(this, 'Key', {
      description: `Messages of ${config.name} on their way to people`,
      enableKeyRotation: true,
      // It encrypts messages under way only: nothing that is kept would become unreadable with it.
      removalPolicy: RemovalPolicy.DESTROY,
      pendingWindow: Duration.days(7),
    });
    this.topic = new sns.Topic(this, 'Topic', {
      // The sender of its e-mails, which ends at 100 characters.
      displayName: config.name.slice(0, 100),
      masterKey: this.key,
      enforceSSL: true,
    });
    this.admitAlarms();
    for (const email of config.alerts.emails) {
      this.topic.addSubscription(new subscriptions.EmailSubscription(email));
    }
  }

  /** What a role needs to publish to the encrypted topic, and nothing else. */
  grantPublish(role: iam.IGrantable): void {
    role.grantPrincipal.addToPrincipalPolicy(
      new iam.PolicyStatement({ actions: ['sns:Publish'], resources: [this.topic.topicArn] }),
    );
    role.grantPrincipal.addToPrincipalPolicy(
      new iam.PolicyStatement({ actions: ['kms:GenerateDataKey', 'kms:Decrypt'], resources: [this.key.keyArn] }),
    );
  }

  /** An alarm publishes as the service and not as a role: topic and key must both name it, for this account's alarms. */
  private admitAlarms(): void {
    const stack = Stack.of(this);
    const alarms = {
      principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
      conditions: {
        StringEquals: { 'aws:SourceAccount': stack.account },
        ArnLike: { 'aws:SourceArn': stack.formatArn({ service: 'cloudwatch', resource: 'alarm:*' }) },
      },
    };
    this.topic.addToResourcePolicy(
      new iam.PolicyStatement({
        ...alarms,
        sid: 'AlarmsPublish',
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
      }),
    );
    this.key.addToResourcePolicy(
      new iam.PolicyStatement({
        ...alarms,
        sid: 'AlarmsEncrypt',
        actions: ['kms:GenerateDataKey*', 'kms:Decrypt'],
        resources: ['*'],
      }),
    );
  }
}
