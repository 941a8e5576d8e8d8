import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

const channel = 'http.client.response.finish';

/** Resolves when this process has the answer to its first PUT, whoever sent it. */
export function firstPut(): Promise<void> {
  return new Promise((resolve) => {
    const onAnswer = (message: unknown) => {
      if ((message as { request: ClientRequest }).request.method !== 'PUT') return;
      unsubscribe(channel, onAnswer);
      resolve();
    };
    subscribe(channel, onAnswer);
  });
}
