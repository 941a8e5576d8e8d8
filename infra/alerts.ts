import { Annotations, ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type IRole, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Recipients } from './config/config';
import { allow } from './grants';

export interface AlertsProps {
  /** First word of its mails, and of the alias of its key. */
  readonly name: string;
  readonly recipients: Recipients;
}

/** The alarms of one account and region. */
interface Alarms {
  readonly account: string;
  /** Matches the ARNs of all of them. */
  readonly arn: string;
}

/** A topic that alarms and messages are published to: the stack's own, or an existing one. */
export class Alerts extends Construct {
  readonly topic: ITopic;
  /** ARN of the customer key that encrypts the topic; undefined if an existing topic has none. */
  readonly #keyArn: string | undefined;

  constructor(scope: Construct, id: string, { name, recipients }: AlertsProps) {
    super(scope, id);
    const { emails, topicArn, kmsKeyArn } = recipients;
    if (topicArn === undefined) {
      const key = this.#createKey(name);
      this.#keyArn = key.keyArn;
      this.topic = this.#createTopic(name, key);
      if (emails.length === 0) this.#warn();
    } else {
      this.#keyArn = kmsKeyArn;
      this.topic = Topic.fromTopicArn(this, 'Topic', topicArn);
      this.#printPolicies(topicArn, kmsKeyArn);
    }
    for (const email of emails) this.topic.addSubscription(new EmailSubscription(email));
  }

  /** Lets a role publish to the topic and use its key, and nothing else. */
  grantPublish(role: IRole): void {
    allow(role, undefined, ['sns:Publish'], [this.topic.topicArn]);
    if (this.#keyArn !== undefined) allow(role, undefined, ['kms:GenerateDataKey', 'kms:Decrypt'], [this.#keyArn]);
  }

  /** A customer key, because CloudWatch may not use the managed key alias/aws/sns: alarms would stay silent. */
  #createKey(name: string): Key {
    const key = new Key(this, 'Key', {
      alias: `${name}-alerts`,
      description: `Encrypts the alert messages of ${name}`,
      enableKeyRotation: true,
      // It encrypts only messages that SNS has not delivered yet. Nothing that is kept depends on it.
      removalPolicy: RemovalPolicy.DESTROY,
      pendingWindow: Duration.days(7),
    });
    key.addToResourcePolicy(encrypt(this.#ownAlarms()));
    return key;
  }

  #createTopic(name: string, masterKey: Key): Topic {
    const topic = new Topic(this, 'Topic', {
      // The sender's name in e-mails: SNS allows 100 characters.
      displayName: name.slice(0, 100),
      masterKey,
      enforceSSL: true,
    });
    topic.addToResourcePolicy(publish(this.#ownAlarms(), topic.topicArn));
    return topic;
  }

  /** The stack cannot add to the policies of an existing topic and its key. */
  #printPolicies(topicArn: string, kmsKeyArn: string | undefined): void {
    const { account = '', region = '' } = Stack.of(this).splitArn(topicArn, ArnFormat.NO_RESOURCE_NAME);
    const alarms = { account, arn: `arn:aws:cloudwatch:${region}:${account}:alarm:*` };
    const text = (statement: PolicyStatement) =>
      JSON.stringify(Stack.of(this).resolve([statement.toStatementJson()]), undefined, 2);
    const key =
      kmsKeyArn === undefined
        ? 'If a customer key encrypts the topic, set kmsKeyArn. With the managed key alias/aws/sns alarms stay silent.'
        : `The policy of the key ${kmsKeyArn} has to contain:\n${text(encrypt(alarms))}`;
    Annotations.of(this).addInfoV2(
      'cluster-log-collector:policies-of-the-topic',
      `The policy of the topic ${topicArn} has to contain:\n${text(publish(alarms, topicArn))}\n${key}\n`,
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
        'Set one, or subscribe to the topic of the output AlertTopic or InformTopic.',
    );
  }
}

/** Alarms publish as CloudWatch and not as a role: the policies of topic and key must both allow it. */
function publish(alarms: Alarms, topicArn: string): PolicyStatement {
  return new PolicyStatement({ sid: 'AlarmsPublish', actions: ['sns:Publish'], resources: [topicArn], ...by(alarms) });
}

function encrypt(alarms: Alarms): PolicyStatement {
  const actions = ['kms:GenerateDataKey*', 'kms:Decrypt'];
  return new PolicyStatement({ sid: 'AlarmsEncrypt', actions, resources: ['*'], ...by(alarms) });
}

function by({ account, arn }: Alarms) {
  return {
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    conditions: { StringEquals: { 'aws:SourceAccount': account }, ArnLike: { 'aws:SourceArn': arn } },
  };
}
