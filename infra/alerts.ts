import { Annotations, ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type IGrantable, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { CollectorConfig } from './config/config';

export interface AlertsProps {
  readonly config: Pick<CollectorConfig, 'name' | 'alerts' | 'shards'>;
}

/** A service that publishes as itself and not as a role: the policies of topic and key must both allow it. */
interface Publisher {
  readonly sid: string;
  readonly service: string;
  readonly conditions?: Record<string, Record<string, string>>;
}

/** The alarms of one account and region. */
interface Alarms {
  readonly account: string;
  /** Matches the ARNs of all of them. */
  readonly arn: string;
}

/** The topic that alarms and failed runs are published to: the stack's own, or an existing one. */
export class Alerts extends Construct {
  readonly topic: ITopic;
  /** ARN of the customer key that encrypts the topic; undefined if an existing topic has none. */
  readonly #keyArn: string | undefined;

  constructor(scope: Construct, id: string, { config }: AlertsProps) {
    super(scope, id);
    const { emails, topicArn, kmsKeyArn } = config.alerts;
    if (topicArn === undefined) {
      const key = this.#createKey(config);
      this.#keyArn = key.keyArn;
      this.topic = this.#createTopic(config, key);
      if (emails.length === 0) this.#warn();
    } else {
      this.#keyArn = kmsKeyArn;
      this.topic = Topic.fromTopicArn(this, 'Topic', topicArn);
      this.#printPolicies(config, topicArn);
    }
    for (const email of emails) this.topic.addSubscription(new EmailSubscription(email));
  }

  /** Lets a role publish to the topic and use its key, and nothing else. */
  grantPublish(role: IGrantable): void {
    role.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['sns:Publish'], resources: [this.topic.topicArn] }),
    );
    if (this.#keyArn !== undefined)
      role.grantPrincipal.addToPrincipalPolicy(
        new PolicyStatement({ actions: ['kms:GenerateDataKey', 'kms:Decrypt'], resources: [this.#keyArn] }),
      );
  }

  /** A customer key, because CloudWatch may not use the managed key alias/aws/sns: alarms would stay silent. */
  #createKey(config: AlertsProps['config']): Key {
    const key = new Key(this, 'Key', {
      alias: `${config.name}-alerts`,
      description: `Encrypts the alert messages of ${config.name}`,
      enableKeyRotation: true,
      // It encrypts only messages that SNS has not delivered yet. Nothing that is kept depends on it.
      removalPolicy: RemovalPolicy.DESTROY,
      pendingWindow: Duration.days(7),
    });
    for (const publisher of publishers(config, this.#ownAlarms())) key.addToResourcePolicy(encrypt(publisher));
    return key;
  }

  #createTopic(config: AlertsProps['config'], masterKey: Key): Topic {
    const topic = new Topic(this, 'Topic', {
      // The sender's name in e-mails: SNS allows 100 characters.
      displayName: config.name.slice(0, 100),
      masterKey,
      enforceSSL: true,
    });
    for (const publisher of publishers(config, this.#ownAlarms()))
      topic.addToResourcePolicy(publish(publisher, topic.topicArn));
    return topic;
  }

  /** The stack cannot add to the policies of an existing topic and its key. */
  #printPolicies(config: AlertsProps['config'], topicArn: string): void {
    const { account = '', region = '' } = Stack.of(this).splitArn(topicArn, ArnFormat.NO_RESOURCE_NAME);
    const allowed = publishers(config, { account, arn: `arn:aws:cloudwatch:${region}:${account}:alarm:*` });
    const text = (statements: PolicyStatement[]) =>
      JSON.stringify(Stack.of(this).resolve(statements.map((statement) => statement.toStatementJson())), undefined, 2);
    const { kmsKeyArn } = config.alerts;
    const key =
      kmsKeyArn === undefined
        ? 'If a customer key encrypts the topic, set alerts.kmsKeyArn. With the managed key alias/aws/sns alarms stay silent.'
        : `The policy of the key ${kmsKeyArn} has to contain:\n${text(allowed.map(encrypt))}`;
    Annotations.of(this).addInfoV2(
      'cluster-log-collector:policies-of-the-topic',
      `The policy of the topic ${topicArn} has to contain:\n${text(allowed.map((one) => publish(one, topicArn)))}\n${key}\n`,
    );
  }

  #ownAlarms(): Alarms {
    const stack = Stack.of(this);
    return { account: stack.account, arn: stack.formatArn({ service: 'cloudwatch', resource: 'alarm:*' }) };
  }

  #warn(): void {
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:no-recipient',
      'Nobody gets alarms and failed runs: alerts has neither emails nor topicArn. ' +
        'Set one, or subscribe to the topic of the output AlertTopic.',
    );
  }
}

function publishers({ shards }: AlertsProps['config'], { account, arn }: Alarms): Publisher[] {
  const alarms = {
    sid: 'Alarms',
    service: 'cloudwatch.amazonaws.com',
    conditions: {
      StringEquals: { 'aws:SourceAccount': account },
      ArnLike: { 'aws:SourceArn': arn },
    },
  };
  // Without conditions, which EventBridge supports neither in the policy of a topic nor in that of its key (EventBridge
  // user guide, "Using resource-based policies", permissions for Amazon SNS): the message would be dropped silently.
  const failedExecutions = { sid: 'FailedExecutions', service: 'events.amazonaws.com' };
  return shards > 1 ? [alarms, failedExecutions] : [alarms];
}

function publish({ sid, service, conditions = {} }: Publisher, topicArn: string): PolicyStatement {
  const principals = [new ServicePrincipal(service)];
  return new PolicyStatement({
    sid: `${sid}Publish`,
    principals,
    actions: ['sns:Publish'],
    resources: [topicArn],
    conditions,
  });
}

function encrypt({ sid, service, conditions = {} }: Publisher): PolicyStatement {
  const principals = [new ServicePrincipal(service)];
  const actions = ['kms:GenerateDataKey*', 'kms:Decrypt'];
  return new PolicyStatement({ sid: `${sid}Encrypt`, principals, actions, resources: ['*'], conditions });
}
