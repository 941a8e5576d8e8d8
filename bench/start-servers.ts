import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { type Machine, pinTo } from './machine';
import type { ClusterServerSettings, ServiceStats } from './servers/cluster-server';
import type { ObjectSinkSettings, SinkStats } from './servers/object-sink';
import type { ServerCommand } from './servers/serve';

export interface ServerSettings {
  readonly service: ClusterServerSettings;
  readonly sink: ObjectSinkSettings;
}

export interface ServerStats {
  readonly service: ServiceStats;
  readonly sink: SinkStats;
  /** Processor time of both servers, in milliseconds. */
  readonly cpuMs: number;
}

/** The cluster service and the archive server, each a process of its own. */
export interface Servers {
  readonly serviceUrl: string;
  readonly awsUrl: string;
  /** PEM file of the authority that signed both servers' certificates. */
  readonly caFile: string;
  /** Applies new settings to both servers and clears what they counted. */
  reset(settings: ServerSettings): Promise<void>;
  stats(): Promise<ServerStats>;
  close(): void;
}

export async function startServers(programs: string, folder: string, machine: Machine): Promise<Servers> {
  // Clients trust it as its own authority.
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'bench' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const files = { ca: join(folder, 'ca.pem'), key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
  writeFileSync(files.ca, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  writeFileSync(files.cert, cert);
  const start = async (program: string) => {
    const [command, args] = pinTo(machine, 'servers', machine.node, [join(programs, program), files.key, files.cert]);
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const [{ port }] = await once(child, 'message');
    return { child, url: `https://127.0.0.1:${port}` };
  };
  const [service, sink] = await Promise.all([start('cluster-server.js'), start('object-sink.js')]);
  return {
    serviceUrl: service.url,
    awsUrl: sink.url,
    caFile: files.ca,
    reset: async (settings) => {
      await Promise.all([send(service.child, { reset: settings.service }), send(sink.child, { reset: settings.sink })]);
    },
    stats: async () => {
      const [a, b] = await Promise.all([send(service.child, 'stats'), send(sink.child, 'stats')]);
      return {
        service: a as ServerAnswer & ServiceStats,
        sink: b as ServerAnswer & SinkStats,
        cpuMs: a.cpuMs + b.cpuMs,
      };
    },
    close: () => {
      for (const { child } of [service, sink]) child.disconnect();
    },
  };
}

interface ServerAnswer {
  readonly cpuMs: number;
}

async function send(child: ChildProcess, command: ServerCommand): Promise<ServerAnswer> {
  child.send(command);
  const [answer] = await once(child, 'message');
  return answer;
}
