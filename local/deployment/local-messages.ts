import * as z from 'zod';
import { authorize, type PolicyDocument } from '../aws/authorize';
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
const keySchema = z.object({ KeyPolicy: document });

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

  constructor(private readonly stack: StackTemplate) {}

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
    this.demand(role, service.action, to, service.policyOf(this.stack, resource), to);
    const keyId = resource.read(encryptedSchema).KmsMasterKeyId;
    const key = this.stack
      .resourcesOf('AWS::KMS::Key')
      .find(({ identity }) => keyId === identity.ref || keyId === identity.attributes.Arn);
    if (keyId !== undefined && key === undefined && !keyId.includes('alias/aws/'))
      throw new UnsupportedTemplateError(
        `Cannot deliver to ${to}: its encryption key ${keyId} is not in the template.`,
      );
    if (key !== undefined)
      for (const action of ['kms:GenerateDataKey', 'kms:Decrypt'])
        this.demand(role, action, key.identity.attributes.Arn ?? '', key.read(keySchema).KeyPolicy, to);
    this.delivered.push({ to, body });
  }

  private demand(role: Role, action: string, resource: string, policy: PolicyDocument | undefined, to: string): void {
    const { accountId, region } = this.stack.location;
    const { allowed, reason } = authorize({
      identityPolicies: role.policies,
      resourcePolicy: policy,
      principalArn: role.arn,
      action,
      resource,
      context: {
        'aws:SecureTransport': 'true',
        'aws:PrincipalAccount': accountId,
        'kms:CallerAccount': accountId,
        'kms:ViaService': `${to.split(':')[2]}.${region}.amazonaws.com`,
      },
    });
    if (!allowed)
      throw new MessageRefusedError(
        `Message to ${to} refused: ${role.arn} is not authorized to perform ${action} on ${resource} ${reason}.`,
      );
  }
}
