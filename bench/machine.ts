import { spawnSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

export function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Binds this process, which is both servers, to one core. @returns whether the machine can: it has taskset and two cores */
export function pinServers(): boolean {
  return cpus().length > 1 && succeeds('taskset', '-acp', '0', String(process.pid));
}

export type Command = readonly [command: string, args: string[]];

/** Binds the command of a contender to the core beside that of the servers. */
export function pinContender([command, args]: Command): Command {
  return ['taskset', ['-c', '1', command, ...args]];
}

export function describeMachine(isPinned: boolean): string {
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB`;
  const pinning = isPinned
    ? 'the client has a core to itself, both servers share another'
    : 'client and servers share all cores: a quick run, no taskset, or only one core';
  return `Node ${process.versions.node}; ${cpus()[0]?.model}, ${cpus().length} cores, ${memory}; ${pinning}`;
}
