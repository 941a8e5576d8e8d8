import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { type ContractTarget, parseContractPath } from './contract-path';
import { answerWithFault, type FaultName, sendError } from './demo-faults';
import {
  assertText,
  type Content,
  InvalidTextError,
  jsonString,
  type LogDescription,
  logRecordBody,
} from './json-body';
import { pick, seededRandom } from './seeded-random';

/** What the demo service knows about its clusters; `undefined` stands for a cluster or resource that does not exist. */
export interface ClusterSource {
  clusterUids(): Promise<readonly string[]>;
  /** Text of `spec.log` at that time. */
  log(uid: string, at: Date): Promise<Content | undefined>;
  manifest(uid: string, at: Date): Promise<Content | undefined>;
  /** Of the log; called before `log`. */
  describe(uid: string, at: Date): Promise<LogDescription | undefined>;
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
 * @throws what the source throws; if the answer has begun by then, it stays unfinished
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
  try {
    const isCompressed = answers.compresses && acceptsGzip(request);
    response.writeHead(200, {
      'Content-Type': answer.contentType,
      Vary: 'Accept-Encoding',
      ...(isCompressed && { 'Content-Encoding': 'gzip' }),
    });
    if (isCompressed) await pipeline(answer.body, createGzip(), response);
    else await pipeline(answer.body, response);
  } catch (error) {
    // The client closed the connection, which is no error of the service.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  } finally {
    if (typeof answer.content !== 'string') answer.content.destroy();
  }
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|$)/i.test(headers['accept-encoding']?.toString() ?? '');
}

interface Answer {
  readonly contentType: string;
  readonly body: AsyncIterable<string | Buffer>;
  /** What the body reads from. */
  readonly content: Content;
}

async function logAnswer(
  { source, now }: DemoAnswers,
  { uid, requestId }: ContractTarget,
  request: IncomingMessage,
): Promise<Answer | undefined> {
  const at = now();
  const description = await source.describe(uid, at);
  const log = await checkedText(() => source.log(uid, at));
  if (description === undefined || log === undefined) return undefined;
  const projectUid = request.headers.projectuid?.toString();
  const body = logRecordBody({ ...description, clusterUid: uid, log, projectUid, requestId });
  return { contentType: 'application/json', body, content: log };
}

async function manifestAnswer(
  { source, now, manifestAs }: DemoAnswers,
  { uid }: ContractTarget,
): Promise<Answer | undefined> {
  const at = now();
  const form = manifestAs ?? pick(seededRandom(`manifest form of ${uid}`), ['text', 'yaml', 'json']);
  const read = () => source.manifest(uid, at);
  const content = await (form === 'json' ? checkedText(read) : read());
  if (content === undefined) return undefined;
  const asReceived = () => (typeof content === 'string' ? Readable.from([content]) : content);
  return { contentType: manifestTypes[form], body: form === 'json' ? jsonString(content) : asReceived(), content };
}

/** Reads a stream to its end and opens it again: an error must be known before the status is sent. */
async function checkedText(read: () => Promise<Content | undefined>): Promise<Content | undefined> {
  const content = await read();
  if (content === undefined || typeof content === 'string') return content;
  await assertText(content);
  return read();
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
