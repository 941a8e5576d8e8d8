import type { Compression } from '../lambda/stack-contract';
import type { Machine } from './machine';

/** One program that does the work. */
export interface Contender {
  /** Source in contenders/. A `.ts` file is bundled for Node, a `.py` file is run by Python. `rclone` is the command. */
  readonly program: string;
  /**
   * Whether every body is checked, hashed and compressed, and every object is stored under a condition and with a
   * checksum. The archive server verifies the last two. Otherwise bodies are copied as they are.
   */
  readonly isChecked: boolean;
  readonly compression: Compression;
  /** Compression level. */
  readonly level: number;
  /** Whether the program runs the function's own bundle. */
  readonly needsFunction?: true;
  /** One line for the help text. */
  readonly about: string;
}

/** zlib's default level. */
const gzip6 = { compression: 'gzip', level: 6, isChecked: true } as const;
const gzip1 = { compression: 'gzip', level: 1, isChecked: true } as const;
const zstd1 = { compression: 'zstd', level: 1, isChecked: true } as const;

const collector = { program: 'collector.ts', needsFunction: true } as const;

export const contenders = {
  'ours, gzip': { ...gzip1, ...collector, about: "the function's own bundle, called through its handler" },
  'ours, zstd': { ...zstd1, ...collector, about: 'the same, configured for zstd' },
  'Promise.all': {
    ...gzip6,
    program: 'promise-all.ts',
    about: 'the first program one would write: all at once, fetch, JSON.parse, zlib, SDK; no limit, retry or deadline',
  },
  'Promise.all, gzip 1': {
    ...gzip1,
    program: 'promise-all.ts',
    about: "the same with our gzip level instead of zlib's default",
  },
  'fetch to Upload': {
    ...gzip6,
    program: 'stream-upload.ts',
    about: "fetch streamed through gzip into the SDK's lib-storage Upload, with our concurrency and our check",
  },
  boto3: {
    ...gzip6,
    program: 'boto3-threads.py',
    about: 'Python: 64 threads, urllib3, json, gzip, boto3',
  },
  'boto3, gzip 1': { ...gzip1, program: 'boto3-threads.py', about: 'the same with our gzip level' },
  'rclone, unchecked': {
    ...gzip6,
    program: 'rclone',
    isChecked: false,
    about: 'copies 256 files at once, byte for byte: no check, hash, compression or condition',
  },
  'raw sockets, gzip': {
    ...gzip1,
    program: 'raw-sockets.ts',
    about: 'the floor: our check, hash and compression with hand-written HTTP and signatures; no retry, no limit',
  },
  'raw sockets, zstd': { ...zstd1, program: 'raw-sockets.ts', about: 'the same with zstd' },
} as const satisfies Record<string, Contender>;

export type ContenderName = keyof typeof contenders;

/** Why a contender cannot run on this machine; undefined if it can. */
export function unavailableReason({ program, compression }: Contender, machine: Machine): string | undefined {
  if (program === 'rclone') return machine.rclone === undefined ? 'rclone was not found' : undefined;
  if (program.endsWith('.py')) return machine.python === undefined ? 'Python with boto3 was not found' : undefined;
  if (compression === 'zstd' && !machine.hasZstd) return `Node ${machine.nodeVersion} has no zstd`;
  return undefined;
}
