import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Built } from '../build';
import { type Machine, pinTo } from '../machine';
import type { Workload } from '../scenarios';

/** What the servers answer, and how slowly. */
export interface ServerSettings extends Omit<Workload, 'clusters'> {
  readonly clusters: readonly string[];
  /** Content of the secret. */
  readonly apiKey: string;
  /** Compute the checksum of each object and refuse a wrong one. It costs processor time: false while measuring. */
  readonly verify: boolean;
}

/** What the archive server counted since it was reset, without run records and configurations. */
export interface SinkStats {
  readonly objects: number;
  readonly storedBytes: number;
  /** Objects written under the condition that none exists. */
  readonly conditional: number;
  /** Objects sent with a checksum. */
  readonly checksummed: number;
  /** Refused, because the checksum was wrong. */
  readonly wrong: number;
}

/** What both servers counted since they were reset. */
export interface ServerStats extends SinkStats {
  /** Bytes of bodies that the service sent. */
  readonly wireBytes: number;
  /** Processor time in milliseconds. */
  readonly serverCpuMs: number;
}

/** Cluster service and archive as their parent process sees them. */
export interface Servers {
  readonly serviceUrl: string;
  /** Of S3 and Secrets Manager. */
  readonly awsUrl: string;
  /** Applies new settings and clears what was counted. */
  reset(settings: ServerSettings): Promise<void>;
  stats(): Promise<ServerStats>;
  close(): void;
}

/**
 * Starts both servers in one process, in the Node that runs the contenders too.
 * @throws {Error} now, or from what is asked of them, if their process ended
 */
export async function startServers({ programs, tls }: Built, machine: Machine): Promise<Servers> {
  const [command, args] = pinTo(machine, 'servers', [machine.node, [join(programs, 'servers.js'), tls.key, tls.cert]]);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`Running the benchmark failed: its servers ended with ${signal ?? code}`);
  });
  const answer = async () => {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message;
  };
  const tell = (message: ServerSettings | 'stats') => {
    child.send(message);
    return answer();
  };
  return { ...(await answer()), reset: tell, stats: () => tell('stats'), close: () => child.disconnect() };
}
