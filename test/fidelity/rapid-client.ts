/**
 * Stands in for the native part of Lambda's runtime interface client. That part is only a transport: it requests the next
 * invocation, and posts the result while the main thread is blocked. install-runtime.ts bundles this file and puts it
 * where the client expects its native module.
 */
import { get, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

interface Post {
  readonly path: string;
  readonly body: string;
  /** Becomes 1 when the response has arrived. */
  readonly answered: Int32Array;
}

const invocations = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;
const poster = isMainThread ? new Worker(__filename) : undefined;
poster?.unref();
parentPort?.on('message', ({ path, body, answered }: Post) => {
  const finish = () => {
    Atomics.store(answered, 0, 1);
    Atomics.notify(answered, 0);
  };
  request(`${invocations}/${path}`, { method: 'POST' }, (response) => response.resume().on('end', finish))
    .on('error', finish)
    .end(body);
});

function post(path: string, body: string): void {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  poster?.postMessage({ path, body, answered } satisfies Post);
  Atomics.wait(answered, 0, 0);
}

/** Resolves with the next event and the headers that describe it. */
export function next(): Promise<{ bodyJson: string; headers: object }> {
  return new Promise((resolve, reject) => {
    get(`${invocations}/next`, (response) => {
      text(response).then((bodyJson) => resolve({ bodyJson, headers: response.headers }), reject);
    }).on('error', reject);
  });
}

export function done(id: string, body: string): void {
  post(`${id}/response`, body);
}

export function error(id: string, body: string): void {
  post(`${id}/error`, body);
}
