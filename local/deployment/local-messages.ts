import * as z from 'zod';
import { type Authorization, authorize } from '../aws/iam/authorize';
import type { PolicyDocument } from '../aws/iam/policy-document';
import type { EncryptionKeys } from './encryption-keys';
import type { Role } from './role';
import type { StackResource, StackTemplate } from './stack-template';
import { UnsupportedTemplateError } from './template';

/** One message that reached a topic or a queue of the stack. */
export interface DeliveredMessage {
  /** ARN of the topic or queue. */
  readonly to: string;
  /** Text, as its readers get it. */
  readonly body: string;
}

/** The stack's policies keep a message from its topic or queue: on AWS it would be lost, and only a metric would count it. */
export class MessageRefusedError extends Error {
  override readonly name = 'MessageRefusedError';
}

const document = z.custom<PolicyDocument>((value) => typeof value === 'object' && value !== null);
const encryptedSchema = z.object({ KmsMasterKeyId: z.string().optional() });

interface MessageService {
  readonly type: string;
  readonly arnAttribute: string;
  readonly action: string;
  policyOf(stack: StackTemplate, resource: StackResource): PolicyDocument | undefined;
}

const services: Readonly<Record<string, MessageService>> = {
  sns: {
    type: 'AWS::SNS::Topic',
    arnAttribute: 'TopicArn',
    action: 'sns:Publish',
    policyOf: (stack, { identity }) =>
      stack
        .resourcesOf('AWS::SNS::TopicPolicy')
        .map((policy) => policy.read(z.object({ Topics: z.array(z.string()), PolicyDocument: document })))
        .find(({ Topics }) => Topics.includes(identity.ref))?.PolicyDocument,
  },
  sqs: {
    type: 'AWS::SQS::Queue',
    arnAttribute: 'Arn',
    action: 'sqs:SendMessage',
    policyOf: (stack, { identity }) =>
      stack
        .resourcesOf('AWS::SQS::QueuePolicy')
        .map((policy) => policy.read(z.object({ Queues: z.array(z.string()), PolicyDocument: document })))
        .find(({ Queues }) => Queues.includes(identity.ref))?.PolicyDocument,
  },
};

/** The stack's topics and queues: they keep what the policies let through. */
export class LocalMessages {
  readonly delivered: DeliveredMessage[] = [];

  constructor(
    private readonly stack: StackTemplate,
    private readonly keys: EncryptionKeys,
  ) {}

  /**
   * Sends as a role, if the role, the topic or queue and its encryption key allow it.
   * @throws MessageRefusedError if they do not
   * @throws UnsupportedTemplateError if the destination is no topic or queue of the stack
   */
  send(to: string, role: Role, body: string): void {
    const service = services[to.split(':')[2] ?? ''];
    const resource =
      service &&
      this.stack.resourcesOf(service.type).find(({ identity }) => identity.attributes[service.arnAttribute] === to);
    if (service === undefined || resource === undefined)
      throw new UnsupportedTemplateError(`Cannot deliver to ${to}: it is no topic or queue of this stack.`);
    const context = { 'aws:SecureTransport': 'true', 'aws:PrincipalAccount': this.stack.location.accountId };
    const policy = service.policyOf(this.stack, resource);
    const request = { identityPolicies: role.policies, resourcePolicy: policy, principalArn: role.arn, context };
    demand(authorize({ ...request, action: service.action, resource: to }), service.action, to);
    const keyId = resource.read(encryptedSchema).KmsMasterKeyId;
    for (const action of keyId === undefined ? [] : ['kms:GenerateDataKey', 'kms:Decrypt'])
      demand(this.keys.authorize(role, action, keyId ?? '', to.split(':')[2] ?? ''), action, keyId ?? '');
    this.delivered.push({ to, body });

    function demand({ allowed, reason }: Authorization, action: string, on: string): void {
      if (!allowed)
        throw new MessageRefusedError(
          `Message to ${to} refused: ${role.arn} is not authorized to perform ${action} on ${on} ${reason}.`,
        );
    }
  }
}
