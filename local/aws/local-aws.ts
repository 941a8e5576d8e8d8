import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AwsEndpoint } from './aws-endpoint';
import type { Account, Principal } from './call';
import type { EndpointHooks } from './fault';
import { type PolicyDocument, statementsOf } from './iam/policy-document';
import { answerBrokenRequest, sendAnswer } from './send-answer';
import { FolderStore } from './store/folder-store';
import { type LocalSecret, SecretStore } from './store/secret-store';

export type { Fault, InterceptedRequest, LoggedRequest } from './fault';

export interface LocalBucket {
  readonly name: string;
  /** Where its objects lie; made if it is absent. */
  readonly folder: string;
  readonly policy?: PolicyDocument;
}

export interface LocalAwsOptions extends EndpointHooks {
  readonly region: string;
  readonly accountId: string;
  readonly principals: readonly Principal[];
  readonly buckets: readonly LocalBucket[];
  readonly secrets: readonly LocalSecret[];
}

export interface LocalAws {
  /** `http://127.0.0.1:<port>`, for AWS_ENDPOINT_URL. */
  readonly url: string;
  /**
   * Sets or, with undefined, takes away a secret's value.
   * @throws UnknownSecretError
   */
  setSecretValue(nameOrArn: string, value: string | undefined): void;
  /** Cuts every connection and waits until nothing is written any more. */
  close(): Promise<void>;
}

/** There is no secret of this name or ARN. */
export class UnknownSecretError extends Error {
  override readonly name = 'UnknownSecretError';
}

/**
 * Starts S3 and Secrets Manager over folders, at a free port of the loopback.
 * @throws UnknownPolicyElementError for a policy that holds anything whose meaning is not known here
 */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  const account = await accountOf(options);
  const endpoint = new AwsEndpoint(account, options);
  const running = new Set<Promise<void>>();
  const server = createServer();
  // Connections stay open until the end: a client whose idle connection is closed just when it sends sees a reset.
  server.keepAliveTimeout = 0;
  const handle = (request: IncomingMessage, response: ServerResponse, waits: boolean): void => {
    const handled = sendAnswer(request, response, waits, (askForBody) => endpoint.answer(request, askForBody));
    running.add(handled);
    void handled.finally(() => running.delete(handled));
  };
  server.on('request', (request, response) => handle(request, response, false));
  server.on('checkContinue', (request, response) => handle(request, response, true));
  server.on('clientError', answerBrokenRequest);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setSecretValue(nameOrArn, value) {
      const secret = account.secrets.find(nameOrArn);
      if (secret === undefined)
        throw new UnknownSecretError(`Setting the secret ${nameOrArn} failed: there is none of this name or ARN`);
      account.secrets.set(secret, value);
    },
    async close() {
      endpoint.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await Promise.all([closed, ...running]);
    },
  };
}

async function accountOf({ region, accountId, principals, buckets, secrets }: LocalAwsOptions): Promise<Account> {
  // A policy that cannot be evaluated is known now, rather than with the first call.
  for (const policy of principals.flatMap((principal) => principal.policies)) statementsOf(policy, 'identity');
  const stores = buckets.map(({ name, folder, policy }) => {
    if (policy !== undefined) statementsOf(policy, 'resource');
    return [name, { store: new FolderStore(folder), policy }] as const;
  });
  await Promise.all(stores.map(([, { store }]) => store.removeLeftovers()));
  return {
    region,
    accountId,
    principals: new Map(principals.map((principal) => [principal.accessKeyId, principal])),
    buckets: new Map(stores),
    secrets: new SecretStore(secrets),
  };
}
