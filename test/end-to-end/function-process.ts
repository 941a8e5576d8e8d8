import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunSummary } from '../../archive/format/run-record';
import { ExecutionEnvironment, type InvocationOutcome } from '../../local/deployment/execution-environment';
import type { DeployedCollector } from './local-collector';

/** One process with the deployed function loaded, as Lambda keeps it warm. Whoever starts it ends it. */
export class FunctionProcess {
  readonly #environment: ExecutionEnvironment;
  readonly #temporaryFolder: string;

  private constructor(environment: ExecutionEnvironment, temporaryFolder: string) {
    this.#environment = environment;
    this.#temporaryFolder = temporaryFolder;
  }

  /**
   * Processes of one deployment share a folder for temporary files, one after the other.
   * @param timeoutSeconds of an invocation; left out: the template's
   * @param endpointOfS3 left out: the deployment's
   */
  static async start(
    deployed: DeployedCollector,
    { timeoutSeconds, endpointOfS3 }: { timeoutSeconds?: number; endpointOfS3?: string } = {},
  ): Promise<FunctionProcess> {
    const { definition, url: endpoint, region, folder } = deployed;
    const temporaryFolder = join(`${folder}-tmp`, 'tmp');
    await mkdir(temporaryFolder, { recursive: true });
    const limited = { ...definition, timeoutSeconds: timeoutSeconds ?? definition.timeoutSeconds };
    const options = { definition: limited, endpoint, endpointOfS3, region, temporaryFolder, onLine: () => undefined };
    return new FunctionProcess(new ExecutionEnvironment(options), temporaryFolder);
  }

  invoke(event: unknown): Promise<InvocationOutcome> {
    return this.#environment.invoke(event, randomUUID());
  }

  /** @throws what the invocation failed with */
  async collect(run: string): Promise<RunSummary> {
    const outcome = await this.invoke({ scheduledTime: run });
    if (outcome.error !== undefined) throw new Error(outcome.error.errorMessage);
    return outcome.payload as RunSummary;
  }

  /** SIGKILL. */
  kill(): Promise<void> {
    return this.#environment.stop();
  }

  /** Bodies that are kept in temporary files now. */
  async temporaryFiles(): Promise<string[]> {
    return (await readdir(this.#temporaryFolder, { recursive: true })).filter((name) => /body-/.test(name));
  }

  /** Largest resident memory so far, in bytes. From Linux, which knows the process by its environment. */
  async peakMemory(): Promise<number> {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      if (!environment.split('\0').includes(`TMPDIR=${this.#temporaryFolder}`)) continue;
      const peak = /^VmHWM:\s*(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
      return Number(peak?.[1]) * 1024;
    }
    throw new Error(`no process has its temporary files in ${this.#temporaryFolder}`);
  }
}
