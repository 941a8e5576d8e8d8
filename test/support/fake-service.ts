import type { ReceivedBody } from '../../lambda/collect/body/receive';
import type { ClusterApi } from '../../lambda/collect/service/cluster-api';
import type { ResourceRequest, ServiceAnswer } from '../../lambda/collect/service/resource-request';
import { ServiceError } from '../../lambda/collect/service/service-error';

/** A service for tests of the core: answers what a script says, and notes what it was asked. */
export class FakeService implements Pick<ClusterApi, 'get'> {
  readonly requests: ResourceRequest[] = [];
  readonly keys: string[] = [];
  readonly #script: (nth: number, key: string, request: ResourceRequest) => ServiceAnswer | Error;

  /** @param script given the request's number from 0; an Error is thrown */
  constructor(script: (nth: number, key: string, request: ResourceRequest) => ServiceAnswer | Error) {
    this.#script = script;
  }

  async get(...[request, key, signal]: Parameters<ClusterApi['get']>): Promise<ServiceAnswer> {
    const nth = this.requests.length;
    this.requests.push(request);
    this.keys.push(key);
    await Promise.resolve();
    const answer = this.#script(nth, key, request);
    signal.throwIfAborted();
    if (answer instanceof Error) throw answer;
    return answer;
  }
}

export function answer(body: Partial<ReceivedBody> = {}): ServiceAnswer {
  const content = Buffer.from('stored');
  const sha256 = 'ab'.repeat(32);
  const whole = {
    facts: {},
    sha256,
    length: 10,
    receivedLength: 10,
    encodedBy: 'collector' as const,
    content,
    release: async () => undefined,
  };
  return { body: { ...whole, ...body }, mediaType: 'application/json' };
}

export function statusError(status: number): ServiceError {
  return new ServiceError(`status ${status}`, 'status', { status });
}
