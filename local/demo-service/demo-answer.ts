import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type ContractTarget, parseContractPath } from './contract-path';
import { answerWithFault, type FaultName, sendError } from './demo-faults';
import { type ClusterLog, InvalidTextError, logRecord, textOf } from './log-record';
import { pick, seededRandom } from './seeded-random';

const compress = promisify<string | Buffer, Buffer>(gzip);

/** What the demo service knows about its clusters; `undefined` stands for a cluster or resource that does not exist. */
export interface ClusterSource {
  clusterUids(): Promise<readonly string[]>;
  log(uid: string, at: Date): Promise<ClusterLog | undefined>;
  /** Text, or its bytes. */
  manifest(uid: string, at: Date): Promise<string | Buffer | undefined>;
}

/** The contract does not show the manifest's media type (service contract, section 4.2): these three are plausible. */
const manifestTypes = {
  text: 'text/plain; charset=utf-8',
  yaml: 'application/yaml',
  json: 'application/json',
} as const;

/** `text/plain`, `application/yaml`, or one JSON string under `application/json`. */
export type ManifestForm = keyof typeof manifestTypes;

/** What the answers depend on. */
export interface DemoAnswers {
  readonly source: ClusterSource;
  readonly collection: string;
  readonly manifestAs: ManifestForm | undefined;
  /** Whether answers are compressed for a client that accepts it, as gateways do. */
  readonly compresses: boolean;
  readonly latencyMs: number;
  readonly failing: Readonly<Record<string, FaultName>>;
  readonly apiKey: () => string;
  readonly now: () => Date;
  /** Requests per failing cluster x resource. */
  readonly timesAsked: Map<string, number>;
}

/**
 * Answers one request. The contract does not show status codes other than 200, nor their bodies (service contract,
 * section 7): those here are the demo's own choice.
 * @throws what the source throws, once the client has its answer
 */
export async function demoAnswer(
  answers: DemoAnswers,
  request: IncomingMessage,
  response: ServerResponse,
  closing: AbortSignal,
): Promise<void> {
  await latency(answers.latencyMs, closing);
  if (closing.aborted || response.destroyed) return;
  if (request.method !== 'GET') {
    sendError(response, 405, 'MethodNotAllowed', 'Only GET is answered here.', { Allow: 'GET' });
    return;
  }
  if (request.headers.apikey === undefined) {
    sendError(response, 401, 'Unauthorized', 'The header ApiKey is missing.');
    return;
  }
  if (request.headers.apikey !== answers.apiKey()) {
    sendError(response, 401, 'Unauthorized', 'The header ApiKey carries no valid key.');
    return;
  }
  const target = parseContractPath(request.url ?? '', answers.collection);
  if (target === undefined) {
    sendError(response, 404, 'NotFound', 'There is nothing at this path.');
    return;
  }
  const fault = Object.hasOwn(answers.failing, target.uid) ? answers.failing[target.uid] : undefined;
  if (fault !== undefined && answerWithFault(fault, response, target, countRequest(answers.timesAsked, target))) return;
  await sendResource(answers, target, request, response);
}

async function sendResource(
  answers: DemoAnswers,
  target: ContractTarget,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let answer: Answer | undefined;
  try {
    answer = await (target.resource === 'log' ? logAnswer(answers, target, request) : manifestAnswer(answers, target));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const code = error instanceof InvalidTextError ? 'InvalidText' : 'Internal';
    sendError(response, 500, code, `The ${target.resource} of cluster ${target.uid} cannot be served: ${reason}`);
    throw error;
  }
  if (answer === undefined) {
    sendError(response, 404, 'NotFound', `There is no ${target.resource} of a cluster ${target.uid}.`);
    return;
  }
  const isCompressed = answers.compresses && acceptsGzip(request);
  const body = isCompressed ? await compress(answer.body) : answer.body;
  response.writeHead(200, {
    'Content-Type': answer.contentType,
    Vary: 'Accept-Encoding',
    ...(isCompressed && { 'Content-Encoding': 'gzip' }),
  });
  response.end(body);
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|$)/i.test(headers['accept-encoding']?.toString() ?? '');
}

interface Answer {
  readonly contentType: string;
  readonly body: string | Buffer;
}

async function logAnswer(
  { source, now }: DemoAnswers,
  { uid, requestId }: ContractTarget,
  request: IncomingMessage,
): Promise<Answer | undefined> {
  const log = await source.log(uid, now());
  if (log === undefined) return undefined;
  const projectUid = request.headers.projectuid?.toString();
  const record = logRecord(log, { clusterUid: uid, projectUid, requestId });
  return { contentType: 'application/json', body: JSON.stringify(record) };
}

async function manifestAnswer(
  { source, now, manifestAs }: DemoAnswers,
  { uid }: ContractTarget,
): Promise<Answer | undefined> {
  const manifest = await source.manifest(uid, now());
  if (manifest === undefined) return undefined;
  const form = manifestAs ?? pick(seededRandom(`manifest form of ${uid}`), ['text', 'yaml', 'json']);
  return { contentType: manifestTypes[form], body: form === 'json' ? JSON.stringify(textOf(manifest)) : manifest };
}

function countRequest(timesAsked: Map<string, number>, { uid, resource }: ContractTarget): number {
  const nth = (timesAsked.get(`${resource} ${uid}`) ?? 0) + 1;
  timesAsked.set(`${resource} ${uid}`, nth);
  return nth;
}

async function latency(milliseconds: number, closing: AbortSignal): Promise<void> {
  if (milliseconds > 0) {
    // An aborted wait ends early: the caller looks at the signal next.
    await wait(milliseconds, undefined, { signal: closing }).catch(() => undefined);
  }
}
