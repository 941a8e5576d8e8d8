import { Annotations, Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import { type IRole, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Recipients } from './config/config';
import { allow } from './policy-statements';

/** A topic that alarms and messages are published to: the stack's own, or an existing one. */
export class Alerts extends Construct {
  readonly topic: ITopic;
  /** The customer key that encrypts the topic; undefined if an existing topic has none. */
  readonly #key: IKey | undefined;

  /** @param name first word of its mails, and of the alias of its key */
  constructor(scope: Construct, id: string, name: string, { emails, topicArn, kmsKeyArn }: Recipients) {
    super(scope, id);
    if (topicArn === undefined) {
      this.#key = this.#createKey(name);
      this.topic = new Topic(this, 'Topic', {
        // The sender's name in e-mails: SNS allows 100 characters.
        displayName: name.slice(0, 100),
        masterKey: this.#key,
        enforceSSL: true,
      });
      if (emails.length === 0) this.#warn();
    } else {
      this.#key = kmsKeyArn === undefined ? undefined : Key.fromKeyArn(this, 'Key', kmsKeyArn);
      this.topic = Topic.fromTopicArn(this, 'Topic', topicArn);
    }
    this.#admitAlarms();
    for (const email of emails) this.topic.addSubscription(new EmailSubscription(email));
  }

  /** Lets a role publish to the topic and use its key, and nothing else. */
  grantPublish(role: IRole): void {
    allow(role, undefined, ['sns:Publish'], [this.topic.topicArn]);
    if (this.#key !== undefined) allow(role, undefined, ['kms:GenerateDataKey', 'kms:Decrypt'], [this.#key.keyArn]);
  }

  /** A customer key, because CloudWatch may not use the managed key alias/aws/sns: alarms would stay silent. */
  #createKey(name: string): Key {
    return new Key(this, 'Key', {
      alias: `${name}-alerts`,
      description: `Encrypts the alert messages of ${name}`,
      enableKeyRotation: true,
      // It encrypts only messages that SNS has not delivered yet. Nothing that is kept depends on it.
      removalPolicy: RemovalPolicy.DESTROY,
      pendingWindow: Duration.days(7),
    });
  }

  /**
   * Alarms publish as CloudWatch and not as a role: the policies of topic and key must both allow it. Those of an existing
   * topic are its owner's.
   */
  #admitAlarms(): void {
    const { topicArn, env } = this.topic;
    // What is printed for an existing topic may not refer to the stack: the partition is then the only one that there is.
    const partition = Token.isUnresolved(topicArn) ? undefined : 'aws';
    const arn = Stack.of(this).formatArn({ partition, ...env, service: 'cloudwatch', resource: 'alarm:*' });
    const alarms = {
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      conditions: { StringEquals: { 'aws:SourceAccount': env.account }, ArnLike: { 'aws:SourceArn': arn } },
    };
    const useKey = ['kms:GenerateDataKey*', 'kms:Decrypt'];
    const ofTopic = new PolicyStatement({
      sid: 'AlarmsPublish',
      actions: ['sns:Publish'],
      resources: [topicArn],
      ...alarms,
    });
    const ofKey = new PolicyStatement({ sid: 'AlarmsEncrypt', actions: useKey, resources: ['*'], ...alarms });
    this.#key?.addToResourcePolicy(ofKey);
    if (!this.topic.addToResourcePolicy(ofTopic).statementAdded) this.#printPolicies(ofTopic, ofKey);
  }

  #printPolicies(ofTopic: PolicyStatement, ofKey: PolicyStatement): void {
    const text = (statement: PolicyStatement) =>
      JSON.stringify(Stack.of(this).resolve([statement.toStatementJson()]), undefined, 2);
    const key =
      this.#key === undefined
        ? 'If a customer key encrypts the topic, set kmsKeyArn. With the managed key alias/aws/sns alarms stay silent.'
        : `The policy of the key ${this.#key.keyArn} has to contain:\n${text(ofKey)}`;
    Annotations.of(this).addInfoV2(
      'cluster-log-collector:policies-of-the-topic',
      `The policy of the topic ${this.topic.topicArn} has to contain:\n${text(ofTopic)}\n${key}\n`,
    );
  }

  #warn(): void {
    Annotations.of(this).addWarningV2(
      'cluster-log-collector:no-recipient',
      'Nobody gets alarms and failed runs: alerts.page or alerts.inform has neither emails nor topicArn. ' +
        'Set one, or subscribe to the topic of the output AlertTopic or InformTopic.',
    );
  }
}
