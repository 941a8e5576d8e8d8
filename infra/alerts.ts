import { Annotations, ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type IRole, PolicyStatement, type PolicyStatementProps, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Recipients } from './config/config';
import { allow } from './policy-statements';

/** A topic that alarms and messages are published to: the stack's own, or an existing one. */
export class Alerts extends Construct {
  readonly topic: ITopic;
  /** ARN of the customer key that encrypts the topic; undefined if an existing topic has none. */
  readonly #keyArn: string | undefined;

  /** @param name first word of its mails, and of the alias of its key */
  constructor(scope: Construct, id: string, name: string, { emails, topicArn, kmsKeyArn }: Recipients) {
    super(scope, id);
    if (topicArn === undefined) {
      const { topic, key } = this.#createTopic(name);
      this.#keyArn = key.keyArn;
      this.topic = topic;
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

  #createTopic(name: string): { readonly topic: Topic; readonly key: Key } {
    // A customer key, because CloudWatch may not use the managed key alias/aws/sns: alarms would stay silent.
    const key = new Key(this, 'Key', {
      alias: `${name}-alerts`,
      description: `Encrypts the alert messages of ${name}`,
      enableKeyRotation: true,
      // It encrypts only messages that SNS has not delivered yet. Nothing that is kept depends on it.
      removalPolicy: RemovalPolicy.DESTROY,
      pendingWindow: Duration.days(7),
    });
    const topic = new Topic(this, 'Topic', {
      // The sender's name in e-mails: SNS allows 100 characters.
      displayName: name.slice(0, 100),
      masterKey: key,
      enforceSSL: true,
    });
    const { account } = Stack.of(this);
    const alarms = alarmsOf(account, Stack.of(this).formatArn({ service: 'cloudwatch', resource: 'alarm:*' }));
    key.addToResourcePolicy(encrypt(alarms));
    topic.addToResourcePolicy(publish(alarms, topic.topicArn));
    return { topic, key };
  }

  /** The stack cannot add to the policies of an existing topic and its key. */
  #printPolicies(topicArn: string, kmsKeyArn: string | undefined): void {
    const { account = '', region = '' } = Stack.of(this).splitArn(topicArn, ArnFormat.NO_RESOURCE_NAME);
    const alarms = alarmsOf(account, `arn:aws:cloudwatch:${region}:${account}:alarm:*`);
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

  #warn(): void {
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:no-recipient',
      'Nobody gets alarms and failed runs: alerts has neither emails nor topicArn. ' +
        'Set one, or subscribe to the topic of the output AlertTopic or InformTopic.',
    );
  }
}

type ByAlarms = Pick<PolicyStatementProps, 'principals' | 'conditions'>;

/**
 * Alarms publish as CloudWatch and not as a role: the policies of topic and key must both allow it.
 * @param arn matches the ARNs of all alarms of the account and region
 */
function alarmsOf(account: string, arn: string): ByAlarms {
  return {
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    conditions: { StringEquals: { 'aws:SourceAccount': account }, ArnLike: { 'aws:SourceArn': arn } },
  };
}

function publish(alarms: ByAlarms, topicArn: string): PolicyStatement {
  return new PolicyStatement({ sid: 'AlarmsPublish', actions: ['sns:Publish'], resources: [topicArn], ...alarms });
}

function encrypt(alarms: ByAlarms): PolicyStatement {
  const actions = ['kms:GenerateDataKey*', 'kms:Decrypt'];
  return new PolicyStatement({ sid: 'AlarmsEncrypt', actions, resources: ['*'], ...alarms });
}
