import * as z from 'zod';
import type { DeliveredMessage } from '../aws/call';
import { type Caller, refusalOfAny, useOfKey } from '../aws/iam/authorize';
import { readKey, readPolicy } from './bucket-and-secret';
import { type StackTemplate, UnsupportedTemplateError } from './stack-template';

/** What takes messages: its type, and the permission to send. */
const services: Readonly<Record<string, readonly [type: string, action: string]>> = {
  sns: ['AWS::SNS::Topic', 'sns:Publish'],
  sqs: ['AWS::SQS::Queue', 'sqs:SendMessage'],
};

const encryptedSchema = z.object({ KmsMasterKeyId: z.string().optional() });

/**
 * The stack's topics and queues: they keep what the policies let through. A topic outside the stack (`alerts.page.topicArn`)
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
   * @throws UnsupportedTemplateError if the destination is neither a topic nor a queue of the stack
   */
  send(role: Caller, message: DeliveredMessage): string | undefined {
    const { to } = message;
    const serviceName = to.split(':')[2] ?? '';
    const [type = '', action = ''] = services[serviceName] ?? [];
    const resource = this.#stack.resourcesOf(type).find(({ identity }) => identity.arn === to);
    if (action === '' || (resource === undefined && serviceName !== 'sns'))
      throw new UnsupportedTemplateError(`Cannot deliver to ${to}: it is neither a topic nor a queue of this stack.`);
    const resourcePolicy = resource && readPolicy(this.#stack, resource);
    const key = readKey(this.#stack, resource?.read(encryptedSchema).KmsMasterKeyId);
    const through = `${serviceName}.${this.#stack.location.region}`;
    const refusal = refusalOfAny(role, [
      { action, resource: to, resourcePolicy },
      useOfKey(key, 'kms:GenerateDataKey', through),
      useOfKey(key, 'kms:Decrypt', through),
    ]);
    if (refusal === undefined) this.delivered.push(message);
    return refusal && `Message to ${to} refused: ${refusal}.`;
  }
}
