import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { ExecutionEnvironment } from './execution-environment';
import type { FunctionDefinition } from './function-definition';
import { type FunctionSurroundings, functionVariables } from './function-variables';
import type { FunctionError } from './runtime-messages';

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

export interface LocalFunctionOptions extends FunctionSurroundings {
  readonly definition: FunctionDefinition;
  readonly onLine: (line: string) => void;
}

/** Lambda's limit for the payload of a synchronous answer, in bytes. */
const responseLimitBytes = 6 * 1024 * 1024 + 100;

/** The deployed function with its warm execution environments; concurrent invocations get environments of their own. */
export class LocalFunction {
  private readonly environments: ExecutionEnvironment[] = [];
  /** Holds the runtime, code that the template contains, and the execution environments' temporary files. */
  private readonly workFolder = mkdtempSync(join(tmpdir(), 'local-function-'));
  private readonly runtimeFile = join(this.workFolder, 'runtime.js');
  private readonly codeFolder: string;
  private started = 0;
  private isClosed = false;

  constructor(private readonly options: LocalFunctionOptions) {
    const { code } = options.definition;
    this.codeFolder = 'folder' in code ? code.folder : this.workFolder;
    if ('text' in code) writeFileSync(join(this.workFolder, 'index.js'), code.text);
    buildSync({
      entryPoints: [join(__dirname, 'runtime.ts')],
      outfile: this.runtimeFile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      logLevel: 'error',
    });
  }

  /** Invokes as Lambda does: an error of the function is an answer, not an exception. */
  async invoke(event: unknown, requestId: string = randomUUID()): Promise<InvocationResult> {
    const environment = this.environments.find(({ idle }) => idle) ?? this.startEnvironment();
    const outcome = await environment.invoke(JSON.stringify(event ?? null), requestId);
    if ('error' in outcome) return { requestId, error: outcome.error };
    if (Buffer.byteLength(outcome.payload) > responseLimitBytes)
      return {
        requestId,
        error: {
          errorType: 'Function.ResponseSizeTooLarge',
          errorMessage: `Response payload size exceeded maximum allowed payload size (${responseLimitBytes} bytes).`,
        },
      };
    return { requestId, payload: JSON.parse(outcome.payload) };
  }

  /** Ends all execution environments, with what they are doing. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.environments.map((environment) => environment.stop()));
    await rm(this.workFolder, { recursive: true, force: true });
  }

  private startEnvironment(): ExecutionEnvironment {
    if (this.isClosed) throw new Error(`Invoking ${this.options.definition.name} failed: the deployment is closed.`);
    const environment = new ExecutionEnvironment({
      definition: this.options.definition,
      codeFolder: this.codeFolder,
      runtimeFile: this.runtimeFile,
      variables: this.variables(),
      onLine: this.options.onLine,
    });
    this.environments.push(environment);
    return environment;
  }

  private variables(): Record<string, string> {
    const { codeFolder } = this;
    const number = ++this.started;
    const temporaryFolder = join(this.workFolder, `tmp-${number}`);
    mkdirSync(temporaryFolder);
    const [nodeMajor = ''] = process.versions.node.split('.');
    const place = { number, codeFolder, temporaryFolder, nodeMajor };
    return functionVariables(this.options.definition, this.options, place);
  }
}
