import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { ExecutionEnvironment, type FunctionError } from './execution-environment';
import type { FunctionDefinition } from './function-definition';

export type InvocationResult = {
  /** The same for all attempts at one asynchronous event. */
  readonly requestId: string;
} & (
  | { readonly payload: unknown; readonly error?: undefined }
  | { readonly payload?: undefined; readonly error: FunctionError }
);

/** Temporary credentials of the function's role. */
export interface RoleCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

export interface LocalFunctionOptions extends CallerSurroundings {
  readonly definition: FunctionDefinition;
  readonly onLine: (line: string) => void;
}

/** The deployed function with its warm execution environments; concurrent invocations get environments of their own. */
export class LocalFunction {
  readonly #options: LocalFunctionOptions;
  readonly #environments: ExecutionEnvironment[] = [];
  /** Holds the runtime, code that the template contains, and the execution environments' temporary files. */
  readonly #workFolder: string;
  readonly #runtimeFile: string;
  readonly #codeFolder: string;
  #isClosed = false;

  constructor(options: LocalFunctionOptions) {
    this.#options = options;
    this.#workFolder = mkdtempSync(join(tmpdir(), `${workFolderPrefix}${process.pid}-`));
    this.#runtimeFile = join(this.#workFolder, 'runtime.js');
    const { code } = options.definition;
    this.#codeFolder = 'folder' in code ? code.folder : this.#workFolder;
    if ('text' in code) writeFileSync(join(this.#workFolder, 'index.js'), code.text);
    writeRuntime(this.#runtimeFile);
  }

  /** Invokes as Lambda does: an error of the function is an answer, not an exception. */
  async invoke(event: unknown, requestId: string = randomUUID()): Promise<InvocationResult> {
    const environment = this.#environments.find(({ idle }) => idle) ?? this.#startEnvironment();
    const outcome = await environment.invoke(JSON.stringify(event ?? null), requestId);
    if ('error' in outcome) return { requestId, error: outcome.error };
    return { requestId, payload: JSON.parse(outcome.payload) };
  }

  /** Ends all execution environments, with what they are doing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#environments.map((environment) => environment.stop()));
    await rm(this.#workFolder, { recursive: true, force: true });
  }

  #startEnvironment(): ExecutionEnvironment {
    const { definition, onLine } = this.#options;
    if (this.#isClosed) throw new Error(`Invoking ${definition.name} failed: the deployment is closed.`);
    const number = this.#environments.length + 1;
    const temporaryFolder = join(this.#workFolder, `tmp-${number}`);
    mkdirSync(temporaryFolder);
    const [nodeMajor = ''] = process.versions.node.split('.');
    const place = { number, codeFolder: this.#codeFolder, temporaryFolder, nodeMajor };
    const environment = new ExecutionEnvironment({
      definition,
      codeFolder: this.#codeFolder,
      runtimeFile: this.#runtimeFile,
      variables: functionVariables(definition, this.#options, place),
      onLine,
    });
    this.#environments.push(environment);
    return environment;
  }
}

/** What the names of work folders in the folder for temporary files begin with, before the number of the process. */
export const workFolderPrefix = 'local-function-';

/** Writes the program that runs in an execution environment, as JavaScript. It imports nothing but Node's own modules. */
export function writeRuntime(file: string): void {
  const source = readFileSync(join(__dirname, 'runtime.ts'));
  writeFileSync(file, transformSync(source, { loader: 'ts', format: 'cjs', target: 'node20' }).code);
}

/** One execution environment of a function. */
export interface EnvironmentPlace {
  /** Which it is, from 1. */
  readonly number: number;
  /** Where the function's code lies. */
  readonly codeFolder: string;
  /** Stands for Lambda's /tmp, which belongs to one execution environment. */
  readonly temporaryFolder: string;
  /** Major version of Node that runs it. */
  readonly nodeMajor: string;
}

/** Where the function finds the services that it calls, and with which credentials. */
export interface CallerSurroundings {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: RoleCredentials;
}

/** All environment variables of a function's process: those of the template and those of Lambda, none of this process. */
export function functionVariables(
  definition: FunctionDefinition,
  { endpoint, region, credentials }: CallerSurroundings,
  { number, codeFolder, temporaryFolder, nodeMajor }: EnvironmentPlace,
): Record<string, string> {
  return {
    ...definition.environment,
    _HANDLER: definition.handler,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_DEFAULT_REGION: region,
    AWS_ENDPOINT_URL: endpoint,
    AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${nodeMajor}.x`,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMiB),
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: definition.logGroup,
    AWS_LAMBDA_LOG_STREAM_NAME: `local/[$LATEST]${number}`,
    AWS_REGION: region,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
    LAMBDA_TASK_ROOT: codeFolder,
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TMPDIR: temporaryFolder,
    TZ: ':UTC',
  };
}
