import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { LocalDeployment } from '../local/deployment/deploy-locally';
import { memoryArguments } from '../local/deployment/execution-environment';
import { functionVariables } from '../local/deployment/local-function';
import type { LambdaRuntime } from './install-runtime';
import { type RuntimeApi, startRuntimeApi } from './runtime-api';

/** What a function wrote, by the way it took to Lambda's log. */
export interface RuntimeOutput {
  /** Lines of standard output and standard error. */
  readonly lines: readonly string[];
  /** Messages of the client's own console, which the platform gets framed at a descriptor of its own. */
  readonly messages: readonly string[];
}

/** One execution environment with Lambda's own client in it. */
export interface RuntimeProcess extends Pick<RuntimeApi, 'invoke' | 'initError'> {
  /** Ends the process, whatever it is doing; called again, it gives the same. */
  stop(): Promise<RuntimeOutput>;
}

/** Descriptor at which the client hands its messages over. */
const telemetryDescriptor = 3;

/**
 * Runs a deployed function in the real runtime, as its template configures it, with JSON logs.
 * @param changes to the environment; undefined takes a variable away
 */
export async function startRuntimeProcess(
  { node, nodeVersion, client }: LambdaRuntime,
  deployment: LocalDeployment,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<RuntimeProcess> {
  const { definition } = deployment;
  if (!('folder' in definition.code)) throw new Error(`${definition.name} has no code in a folder`);
  const codeFolder = definition.code.folder;
  const temporaryFolder = await mkdtemp(join(tmpdir(), 'runtime-process-'));
  const api = await startRuntimeApi(definition);
  const [nodeMajor = ''] = nodeVersion.split('.');
  const place = { number: 1, codeFolder, temporaryFolder, nodeMajor };
  const child = spawn(node, [...memoryArguments(definition), client], {
    cwd: codeFolder,
    env: {
      ...functionVariables(definition, { ...deployment, endpoint: deployment.url }, place),
      AWS_LAMBDA_RUNTIME_API: api.address,
      AWS_LAMBDA_LOG_FORMAT: 'JSON',
      AWS_LAMBDA_LOG_LEVEL: 'INFO',
      _LAMBDA_TELEMETRY_LOG_FD: String(telemetryDescriptor),
      ...changes,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const out = text(child.stdout as Readable);
  const errors = text(child.stderr as Readable);
  const frames = buffer(child.stdio[telemetryDescriptor] as Readable);
  const died = closed.then(async ([code, signal]): Promise<never> => {
    throw new Error(`the runtime ended with ${code ?? signal}: ${await out}${await errors}`);
  });
  // Only an invocation that is under way cares.
  died.catch(() => undefined);
  const end = async (): Promise<RuntimeOutput> => {
    child.kill('SIGKILL');
    await closed;
    await api.close();
    await rm(temporaryFolder, { recursive: true, force: true });
    const lines = `${await out}\n${await errors}`.split('\n').filter((line) => line !== '');
    return { lines, messages: messagesIn(await frames) };
  };
  let ended: Promise<RuntimeOutput> | undefined;
  return {
    initError: api.initError,
    invoke: (event) => Promise.race([api.invoke(event), died]),
    stop: () => {
      ended ??= end();
      return ended;
    },
  };
}

/** A frame: type and length, four bytes each, eight of time, the message. */
function messagesIn(frames: Buffer): string[] {
  const messages: string[] = [];
  for (let start = 0; start < frames.length; ) {
    const end = start + 16 + frames.readUInt32BE(start + 4);
    messages.push(frames.toString('utf8', start + 16, end));
    start = end;
  }
  return messages;
}
