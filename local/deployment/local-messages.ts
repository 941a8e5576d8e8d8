import * as z from 'zod';
import type { DeliveredMessage } from '../aws/call';
import { type Caller, refusalOfAny, useOfKey } from '../aws/iam/authorize';
import type { PolicyDocument } from '../aws/iam/policy-document';
import { readKey } from './buckets-and-secrets';
import { policyDocumentSchema } from './role';
import { type StackTemplate, UnsupportedTemplateError } from './stack-template';

interface MessageService {
  readonly type: string;
  /** The permission to send. */
  readonly action: string;
  /** Type of the resource that holds a policy, and its property that lists whose policy it is. */
  readonly policyType: string;
  readonly policySubjects: 'Topics' | 'Queues';
}

const services: Readonly<Record<string, MessageService>> = {
  sns: {
    type: 'AWS::SNS::Topic',
    action: 'sns:Publish',
    policyType: 'AWS::SNS::TopicPolicy',
    policySubjects: 'Topics',
  },
  sqs: {
    type: 'AWS::SQS::Queue',
    action: 'sqs:SendMessage',
    policyType: 'AWS::SQS::QueuePolicy',
    policySubjects: 'Queues',
  },
};

const subjects = z.array(z.string()).default([]);
const policySchema = z.object({ Topics: subjects, Queues: subjects, PolicyDocument: policyDocumentSchema });
const encryptedSchema = z.object({ KmsMasterKeyId: z.string().optional() });

/**
 * The stack's topics and queues: they keep what the policies let through. A topic outside the stack (`alerts.topicArn`)
 * keeps what the sender's role may publish, because its own policy and key are not in the template.
 */
export class LocalMessages {
  readonly delivered: DeliveredMessage[] = [];
  readonly #stack: StackTemplate;

  constructor(stack: StackTemplate) {
    this.#stack = stack;
  }

  /**
   * Sends as a role, if the role, the topic or queue and its encryption key allow it.
   * @returns why they refuse it; undefined if it was sent
   * @throws UnsupportedTemplateError if the destination is no topic, and no queue of the stack
   */
  send(role: Caller, message: DeliveredMessage): string | undefined {
    const { to } = message;
    const serviceName = to.split(':')[2] ?? '';
    const service = services[serviceName];
    const resource = service && this.#stack.resourcesOf(service.type).find(({ identity }) => identity.arn === to);
    if (service === undefined || (resource === undefined && serviceName !== 'sns'))
      throw new UnsupportedTemplateError(`Cannot deliver to ${to}: it is no topic, and no queue of this stack.`);
    const resourcePolicy = resource && this.#policyOf(service, resource.identity.ref);
    const key = readKey(this.#stack, resource?.read(encryptedSchema).KmsMasterKeyId);
    const through = `${serviceName}.${this.#stack.location.region}`;
    const refusal = refusalOfAny(role, [
      { action: service.action, resource: to, resourcePolicy },
      useOfKey(key, 'kms:GenerateDataKey', through),
      useOfKey(key, 'kms:Decrypt', through),
    ]);
    if (refusal === undefined) this.delivered.push(message);
    return refusal && `Message to ${to} refused: ${refusal}.`;
  }

  #policyOf({ policyType, policySubjects }: MessageService, ref: string): PolicyDocument | undefined {
    return this.#stack
      .resourcesOf(policyType)
      .map((policy) => policy.read(policySchema))
      .find((policy) => policy[policySubjects].includes(ref))?.PolicyDocument;
  }
}
