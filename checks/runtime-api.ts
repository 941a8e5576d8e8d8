import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FunctionDefinition } from '../local/deployment/function-definition';
import type { InvocationResult } from '../local/deployment/local-function';
import type { FunctionError } from '../local/deployment/runtime-messages';

/** The HTTP interface between Lambda and the runtime of a function, for one execution environment. */
export interface RuntimeApi {
  /** `127.0.0.1:<port>`, for AWS_LAMBDA_RUNTIME_API. */
  readonly address: string;
  /** Resolves if the runtime says that the function cannot be loaded. */
  readonly initError: Promise<FunctionError>;
  /** Hands the event to the runtime; an error of the function is an answer. */
  invoke(event: unknown): Promise<InvocationResult>;
  close(): Promise<void>;
}

interface Waiting {
  readonly requestId: string;
  readonly event: string;
  readonly settle: (result: InvocationResult) => void;
}

export async function startRuntimeApi({ arn, timeoutSeconds }: FunctionDefinition): Promise<RuntimeApi> {
  const queue: Waiting[] = [];
  const running = new Map<string, Waiting>();
  let asking: ServerResponse | undefined;
  let failInit: (error: FunctionError) => void;
  const initError = new Promise<FunctionError>((resolve) => {
    failInit = resolve;
  });

  const handOut = (): void => {
    const waiting = asking && queue.shift();
    if (asking === undefined || waiting === undefined) return;
    running.set(waiting.requestId, waiting);
    asking.setHeader('Content-Type', 'application/json');
    asking.setHeader('Lambda-Runtime-Aws-Request-Id', waiting.requestId);
    asking.setHeader('Lambda-Runtime-Deadline-Ms', Date.now() + timeoutSeconds * 1000);
    asking.setHeader('Lambda-Runtime-Invoked-Function-Arn', arn);
    asking.end(waiting.event);
    asking = undefined;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, version, , kind = '', id = '', what] = (request.url ?? '').split('/');
    if (version !== '2018-06-01') throw new Error(`unknown version of the runtime API: ${request.url}`);
    if (request.method === 'GET' && kind === 'invocation' && id === 'next') {
      asking = response;
      return handOut();
    }
    const body = await text(request);
    if (kind === 'init') failInit(JSON.parse(body));
    else {
      const requestId = decodeURIComponent(id);
      const settle = running.get(requestId)?.settle;
      if (settle === undefined) throw new Error(`${requestId} was answered, but is not under way`);
      running.delete(requestId);
      const parsed = JSON.parse(body);
      settle(what === 'response' ? { requestId, payload: parsed } : { requestId, error: parsed });
    }
    response.writeHead(202).end();
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    initError,
    invoke: (event) =>
      new Promise((settle) => {
        queue.push({ requestId: randomUUID(), event: JSON.stringify(event), settle });
        handOut();
      }),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
