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

/** The topic that alarms and failed runs are published to. */
export class Alerts extends Construct {
  readonly topic: sns.Topic;
  /** A customer key, because CloudWatch may not use the managed key alias/aws/sns: alarms would stay silent. */
  readonly key: kms.Key;

  constructor(scope: Construct, id: string, { config }: AlertsProps) {
    super(scope, id);
    this.key = new kms.Key(this, 'Key', {
      description: `Encrypts the alert messages of ${config.name}`,
      enableKeyRotation: true,
      // It encrypts only messages that SNS has not delivered yet. Nothing that is kept depends on it.
      removalPolicy: RemovalPolicy.DESTROY,
      pendingWindow: Duration.days(7),
    });
    this.topic = new sns.Topic(this, 'Topic', {
      // The sender's name in e-mails: SNS allows 100 characters.
      displayName: config.name.slice(0, 100),
      masterKey: this.key,
      enforceSSL: true,
    });
    this.#allowAlarms();
    for (const email of config.alerts.emails) {
      this.topic.addSubscription(new subscriptions.EmailSubscription(email));
    }
  }

  /** Lets a role publish to the encrypted topic, and nothing else. */
  grantPublish(role: iam.IGrantable): void {
    role.grantPrincipal.addToPrincipalPolicy(
      new iam.PolicyStatement({ actions: ['sns:Publish'], resources: [this.topic.topicArn] }),
    );
    role.grantPrincipal.addToPrincipalPolicy(
      new iam.PolicyStatement({ actions: ['kms:GenerateDataKey', 'kms:Decrypt'], resources: [this.key.keyArn] }),
    );
  }

  /** An alarm publishes as the CloudWatch service and not as a role, so the policies of topic and key must both allow it. */
  #allowAlarms(): void {
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
