import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { LocalDeployment } from '../../local/deployment/deploy-locally';
import { functionVariables, memoryArguments } from '../../local/deployment/execution-environment';
import type { LambdaRuntime } from './install-runtime';
import { type RuntimeApi, startRuntimeApi } from './runtime-api';

/** What a function wrote to Lambda's log, by channel. */
export interface RuntimeOutput {
  /** Lines of standard output and standard error. */
  readonly lines: readonly string[];
  /** Messages of the client's own console. It writes them in frames to a descriptor of their own. */
  readonly messages: readonly string[];
}

/** One execution environment that runs Lambda's own client. */
export interface RuntimeProcess extends Pick<RuntimeApi, 'invoke' | 'initError'> {
  /** Kills the process. A second call returns the same output. */
  stop(): Promise<RuntimeOutput>;
}

/** Descriptor to which the client writes its messages. */
const telemetryDescriptor = 3;

/**
 * Runs a deployed function in the real runtime, as its template configures it, with JSON logs.
 * @param changes to the environment; undefined removes a variable
 */
export async function startRuntimeProcess(
  { node, nodeVersion, client }: LambdaRuntime,
  deployment: LocalDeployment,
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<RuntimeProcess> {
  const { definition } = deployment;
  const temporaryFolder = await mkdtemp(join(tmpdir(), 'runtime-process-'));
  const api = await startRuntimeApi(definition);
  const [nodeMajor = ''] = nodeVersion.split('.');
  const child = spawn(node, [...memoryArguments(definition), client], {
    cwd: definition.codeFolder,
    env: {
      ...functionVariables({ ...deployment, endpoint: deployment.url, temporaryFolder }),
      AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${nodeMajor}.x`,
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
    throw new Error(`The runtime ended with ${code ?? signal}: ${await out}${await errors}`);
  });
  // Only a running invocation needs to know.
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

/** Each frame has a type and a length of four bytes each, a time of eight bytes, and the message. */
function messagesIn(frames: Buffer): string[] {
  const messages: string[] = [];
  for (let start = 0; start < frames.length; ) {
    const end = start + 16 + frames.readUInt32BE(start + 4);
    messages.push(frames.toString('utf8', start + 16, end));
    start = end;
  }
  return messages;
}
