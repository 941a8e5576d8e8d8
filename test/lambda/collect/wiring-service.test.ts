import type { Configuration } from '../../../archive/format/configuration';
import { openService } from '../../../lambda/collect/wiring';
import { type RawService, startRawService, wire } from '../../support/raw-service';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** What a request comes to for a configuration: the length of the body, or the error's message. */
async function ask(service: RawService, limits: Partial<Configuration['limits']>): Promise<unknown> {
  const opened = openService({
    service: { baseUrl: service.url, collection: 'c' },
    limits: { concurrency: 4, maxBodyMiB: 1, responseTimeoutSeconds: 60, ...limits },
  });
  closing.push(() => opened.close());
  return opened.get({ cluster: 'a', resource: 'manifest' }, 'key', new AbortController().signal).then(
    ({ body }) => body.length,
    (error: Error) => error.message,
  );
}

async function started(...answer: Parameters<typeof startRawService>): Promise<RawService> {
  const service = await startRawService(...answer);
  closing.push(() => service.close());
  return service;
}

it('the largest body is the configured one', async () => {
  const service = await started(({ socket }) => socket.write(wire('12345678')));
  expect(await ask(service, { maxBodyMiB: 8 / 1024 ** 2 })).toBe(8);
  expect(await ask(service, { maxBodyMiB: 7 / 1024 ** 2 })).toContain('limits.maxBodyMiB');
});

it('the longest wait for an answer is the configured one', async () => {
  const silent = await started(() => undefined);
  expect(await ask(silent, { responseTimeoutSeconds: 0.01 })).toContain('failed: no answer');
});

it('the service is told who asks, in which version', async () => {
  const heads: string[] = [];
  const service = await started(({ socket, head }) => {
    heads.push(head);
    socket.write(wire('text'));
  });
  await ask(service, {});
  expect(heads).toEqual([expect.stringMatching(/^User-Agent: cluster-log-collector\/\d+\.\d+\.\d+\r$/m)]);
});
