import type { Resource } from '../lambda/resources';
import type { Compression } from '../lambda/stack-contract';

/** The work of one contender process. It is written as a JSON file, and the file's path is the first argument. */
export interface Job {
  readonly serviceUrl: string;
  /** Endpoint of S3 and of Secrets Manager. */
  readonly awsUrl: string;
  readonly bucket: string;
  /** Name of the secret that holds the API key. Contenders that do not read secrets use `apiKey`. */
  readonly secret: string;
  readonly apiKey: string;
  /** PEM file of the authority that signed the certificates of both servers. */
  readonly caFile: string;
  readonly clusters: readonly string[];
  readonly resources: readonly Resource[];
  /** Bodies in flight at once, for contenders that have a limit. */
  readonly concurrency: number;
  /** How often all of it is collected, one run after the other. Only our contender supports more than 1. */
  readonly runs: number;
  readonly compression: Compression;
  /** Compression level. */
  readonly level: number;
}

/** What one contender process measured. It is one line of JSON on file descriptor 3. */
export interface Figures {
  /** From the first request to the last response. The time to load the code is not included. */
  readonly wallMs: number;
  /** Processor time of the whole process in that time; undefined where the operating system does not report it. */
  readonly cpuMs?: number;
  /** Largest resident set since the process started, in bytes; undefined where the operating system does not report it. */
  readonly peakBytes?: number;
}
