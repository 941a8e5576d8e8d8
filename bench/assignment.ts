import type { Resource } from '../lambda/resources';
import type { Compression } from '../lambda/stack-contract';

/** What a contender is to do; a JSON file, whose path is its first argument. */
export interface Assignment {
  readonly serviceUrl: string;
  /** Endpoint of S3 and of Secrets Manager. */
  readonly awsUrl: string;
  readonly bucket: string;
  /** Name of the secret with the API key; contenders that read no secret take `apiKey`. */
  readonly secret: string;
  readonly apiKey: string;
  /** PEM file of the authority behind both servers. */
  readonly caFile: string;
  readonly clusters: readonly string[];
  readonly resources: readonly Resource[];
  /** Length of a log in bytes. */
  readonly logBytes: number;
  /** Bodies under way at once, where the contender has a bound. */
  readonly concurrency: number;
  /** How often to do it all, one run after the other, where the contender can: only ours. */
  readonly runs: number;
  readonly compression: Compression;
  /** Level of the compression. */
  readonly level: number;
}

/** What a contender says of itself, as one line of JSON on file descriptor 3. */
export interface Figures {
  /** From the first request's preparation to the last answer; loading code is not in it. */
  readonly wallMs?: number;
  /** Processor time of the whole process in that time. */
  readonly cpuMs?: number;
  /** Largest resident memory since the process began, in bytes. */
  readonly peakBytes?: number;
}
