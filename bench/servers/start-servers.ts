import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Built } from '../build';
import { type Machine, pinTo } from '../machine';
import type { Job } from '../workload';
import type { ServerStats } from './servers';

/** Cluster service and archive as their parent process sees them. */
export type Servers = Awaited<ReturnType<typeof startServers>>;

/**
 * Starts both servers in one process, in the Node that runs the contenders too.
 * @throws {Error} now, or from what is asked of them, if their process ended
 */
export async function startServers({ programs, tls }: Built, machine: Machine) {
  const [command, args] = pinTo(machine, 'servers', [machine.node, [join(programs, 'servers.js'), tls.key, tls.cert]]);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`Running the benchmark failed: its servers ended with ${signal ?? code}`);
  });
  const answer = async () => {
    const [message] = await Promise.race([once(child, 'message'), ended]);
    return message;
  };
  const tell = (message: Job | 'stats') => {
    child.send(message);
    return answer();
  };
  const urls: Pick<Job, 'serviceUrl' | 'awsUrl'> = await answer();
  return {
    urls,
    /** Prepares what the job asks for, and clears what was counted. */
    reset: (job: Job): Promise<void> => tell(job),
    stats: (): Promise<ServerStats> => tell('stats'),
    close: () => child.disconnect(),
  };
}
