import type { Compression } from '../lambda/stack-contract';

/** One way to do the work. */
export interface Contender {
  /** Source below contenders/; what ends in `.ts` is bundled for Node, what ends in `.py` is Python's. */
  readonly program: string;
  /**
   * `checked`: everything is checked, hashed, compressed, and stored under a condition with a checksum; the archive's
   * side is held to that. `unchecked`: copied as it comes.
   */
  readonly work: 'checked' | 'unchecked';
  readonly compression: Compression;
  /** Level of the compression. */
  readonly level: number;
  /** Whether the function's own bundle is handed to it. */
  readonly needsFunction?: true;
  /** What it is, in a line. */
  readonly about: string;
}

/** What zlib, and so most people, takes if nothing is said. */
const usual = { compression: 'gzip', level: 6, work: 'checked' } as const;
const fast = { compression: 'gzip', level: 1, work: 'checked' } as const;
const zstd = { compression: 'zstd', level: 1, work: 'checked' } as const;

const collector = { program: 'collector.ts', needsFunction: true } as const;

export const contenders = {
  'ours, gzip': { ...fast, ...collector, about: "the function's own bundle through its handler" },
  'ours, zstd': { ...zstd, ...collector, about: 'the same, configured for zstd' },
  'Promise.all': {
    ...usual,
    program: 'promise-all.ts',
    about: 'what one writes first: everything at once, fetch, JSON.parse, zlib, SDK; no bound, no retry, no deadline',
  },
  'Promise.all, gzip 1': {
    ...fast,
    program: 'promise-all.ts',
    about: "the same with our gzip level instead of zlib's default",
  },
  'fetch to Upload': {
    ...usual,
    program: 'stream-upload.ts',
    about: "fetch streamed through gzip into the SDK's lib-storage Upload, with our bound and our check",
  },
  boto3: {
    ...usual,
    program: 'boto3-threads.py',
    about: 'Python: 64 threads, urllib3, json, gzip, boto3',
  },
  'boto3, gzip 1': { ...fast, program: 'boto3-threads.py', about: 'the same with our gzip level' },
  'rclone, unchecked': {
    ...usual,
    program: 'rclone',
    work: 'unchecked',
    about: 'copies 256 at once, byte for byte: no check, no hash, no compression, no condition',
  },
  'raw sockets, gzip': {
    ...fast,
    program: 'raw-sockets.ts',
    about: 'the floor: our checks, hash and compression with hand-written HTTP and signatures; no retry, no limit',
  },
  'raw sockets, zstd': { ...zstd, program: 'raw-sockets.ts', about: 'the same with zstd' },
} as const satisfies Record<string, Contender>;

export type ContenderName = keyof typeof contenders;
