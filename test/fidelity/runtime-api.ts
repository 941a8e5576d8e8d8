import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { FunctionError, InvocationResult } from '../../local/deployment/execution-environment';
import type { FunctionDefinition } from '../../local/deployment/function-definition';
import { listenLocally } from '../../local/listen-locally';

/** Lambda's HTTP interface for runtimes, for one execution environment. */
export interface RuntimeApi {
  /** `127.0.0.1:<port>`, for AWS_LAMBDA_RUNTIME_API. */
  readonly address: string;
  /** Resolves if the runtime reports that it cannot load the function. */
  readonly initError: Promise<FunctionError>;
  /** Passes the event to the runtime. An error of the function is a result, not an exception. */
  invoke(event: unknown): Promise<InvocationResult>;
  close(): Promise<void>;
}

interface Invocation {
  readonly requestId: string;
  readonly event: string;
  readonly settle: (result: InvocationResult) => void;
}

export async function startRuntimeApi({ arn, timeoutSeconds }: FunctionDefinition): Promise<RuntimeApi> {
  const queue: Invocation[] = [];
  const running = new Map<string, Invocation>();
  /** The response to the runtime's open request for the next invocation. */
  let nextResponse: ServerResponse | undefined;
  let failInit: (error: FunctionError) => void;
  const initError = new Promise<FunctionError>((resolve) => {
    failInit = resolve;
  });

  const startNext = (): void => {
    const invocation = nextResponse && queue.shift();
    if (nextResponse === undefined || invocation === undefined) return;
    running.set(invocation.requestId, invocation);
    nextResponse.setHeader('Content-Type', 'application/json');
    nextResponse.setHeader('Lambda-Runtime-Aws-Request-Id', invocation.requestId);
    nextResponse.setHeader('Lambda-Runtime-Deadline-Ms', Date.now() + timeoutSeconds * 1000);
    nextResponse.setHeader('Lambda-Runtime-Invoked-Function-Arn', arn);
    nextResponse.end(invocation.event);
    nextResponse = undefined;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, version, , kind = '', id = '', what] = (request.url ?? '').split('/');
    if (version !== '2018-06-01')
      throw new Error(`Answering ${request.url} failed: unknown version of the runtime API`);
    if (request.method === 'GET' && kind === 'invocation' && id === 'next') {
      nextResponse = response;
      return startNext();
    }
    const body = await text(request);
    if (kind === 'init') failInit(JSON.parse(body));
    else {
      const requestId = decodeURIComponent(id);
      const settle = running.get(requestId)?.settle;
      if (settle === undefined) throw new Error(`Invocation ${requestId} was answered, but is not running`);
      running.delete(requestId);
      const parsed = JSON.parse(body);
      settle(what === 'response' ? { requestId, payload: parsed } : { requestId, error: parsed });
    }
    response.writeHead(202).end();
  };

  const answering = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const server = await listenLocally(answering);
  return {
    address: new URL(server.url).host,
    initError,
    invoke: (event) =>
      new Promise((settle) => {
        queue.push({ requestId: randomUUID(), event: JSON.stringify(event), settle });
        startNext();
      }),
    close: server.close,
  };
}
