import { type LookupAddress, promises } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, isIPv6 } from 'node:net';
import { Worker } from 'node:worker_threads';
import { Connector } from '../../../../lambda/collect/service/connector';
import { silenceLimits } from '../../../../lambda/collect/service/request-watch';

/** A name with several addresses, some of which refuse, say nothing, or take seconds for a handshake. */

const { connectMs } = silenceLimits;
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/**
 * Listens in a thread that takes no connection for some time. Linux answers no further handshake while two others wait there, and
 * asks again after one second, and then every second.
 * @returns the port
 */
async function listenSlowly(address: string, busyMs: number, port = 0): Promise<number> {
  const worker = new Worker(
    `const { parentPort, workerData: { address, port, gate, busyMs } } = require('node:worker_threads');
    const server = require('node:net').createServer((socket) => socket.on('error', () => undefined));
    server.listen({ host: address, port, backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(gate, 0, 0, busyMs);
    });`,
    { eval: true, workerData: { address, port, busyMs, gate: new Int32Array(new SharedArrayBuffer(4)) } },
  );
  closing.push(() => worker.terminate());
  const [listening] = await once(worker, 'message');
  const waiting = [1, 2].map(() => connect(listening, address).on('error', () => undefined));
  closing.push(() => {
    for (const socket of waiting) socket.destroy();
  });
  await Promise.all(waiting.map((socket) => once(socket, 'connect')));
  return listening;
}

async function listen(address: string, port = 0): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => undefined)).listen(port, address);
  closing.push(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The address that a connection is made to, within the time for one. */
async function connected(port: number, ...addresses: string[]): Promise<string | undefined> {
  const name = `${addresses.length}-addresses-${port}.example`;
  names.set(
    name,
    addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 })),
  );
  const socket = new Connector(new URL(`http://${name}:${port}`), undefined, connectMs).open();
  closing.push(() => socket.destroy());
  await once(socket, 'connect', { signal: AbortSignal.timeout(connectMs) });
  return socket.remoteAddress;
}

const names = new Map<string, LookupAddress[]>();

beforeEach(() => {
  const lookup = jest.spyOn(promises, 'lookup');
  closing.push(() => lookup.mockRestore());
  lookup.mockImplementation((async (name: string) => names.get(name)) as unknown as typeof promises.lookup);
});

// That handshakes wait is a property of Linux, and so is every address that begins with 127.
(process.platform === 'linux' ? it : it.skip)('a name with a slow address is reached (three at once)', async () => {
  const beforeRefusal = listenSlowly('127.0.0.1', 500).then((port) => connected(port, '127.0.0.1', '127.0.0.2'));
  const beforeNoRoute = listenSlowly('127.0.0.1', 2500).then((port) => connected(port, '127.0.0.1', '2001:db8::1'));
  const behindSilence = listenSlowly('127.0.0.1', 4500).then(async (port) => {
    await listenSlowly('127.0.0.2', 60_000, port);
    return connected(port, '127.0.0.3', '127.0.0.2', '127.0.0.1');
  });
  expect(await Promise.allSettled([beforeRefusal, beforeNoRoute, behindSilence])).toEqual(
    Array(3).fill({ status: 'fulfilled', value: '127.0.0.1' }),
  );
});

it('a name whose first address refuses is reached at the second', async () => {
  const port = await listen('127.0.0.1');
  expect(await connected(port, '::1', '127.0.0.1')).toBe('127.0.0.1');
});

it('a name whose addresses all refuse gives their error', async () => {
  const port = await listen('127.0.0.1');
  closing.pop()?.();
  await expect(connected(port, '127.0.0.1', '::1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
