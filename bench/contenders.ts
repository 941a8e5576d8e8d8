/** One program that does the work. */
export interface Contender {
  /**
   * The function's own bundle, a program for Node in contenders/, or one for Python there. Those that collect check, hash
   * and compress every body, and store it under a condition and with a checksum.
   */
  readonly program:
    | 'function'
    | 'promise-all'
    | 'raw-sockets'
    | 'boto3-threads.py'
    | 'verify'
    | 'raw-reading'
    | 'boto3-reading.py';
  /** One line for the help text. */
  readonly about: string;
  /** A command that succeeds where everything is installed that it needs beside Node. */
  readonly needs?: readonly [command: string, ...args: string[]];
}

export const contenders = {
  'ours, gzip': { program: 'function', about: "the function's own bundle, called through its handler" },
  'Promise.all': {
    program: 'promise-all',
    about: 'the first program one would write: all at once, fetch, JSON.parse, zlib, SDK; no limit, retry or deadline',
  },
  boto3: {
    program: 'boto3-threads.py',
    about: 'Python: 64 threads, urllib3, json, gzip, boto3',
    needs: ['python3', '-c', 'import boto3'],
  },
  'raw sockets, gzip': {
    program: 'raw-sockets',
    about: 'the floor: our check, hash and compression with hand-written HTTP and signatures; no retry, no limit',
  },
  verify: { program: 'verify', about: 'reads an archive back: what `collector verify` does' },
  'boto3, reading': {
    program: 'boto3-reading.py',
    about: 'Python: list, GET with 64 threads, gunzip, SHA-256, compare with the run record; or a loop over a folder',
    needs: ['python3', '-c', 'import boto3'],
  },
  'raw sockets, reading': { program: 'raw-reading', about: 'the floor of reading back: raw sockets, gunzip, SHA-256' },
} as const satisfies Record<string, Contender>;

export type ContenderName = keyof typeof contenders;
