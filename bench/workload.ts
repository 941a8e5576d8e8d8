import type { Resource } from '../archive/format/resources';

/** What an archive holds. */
export interface ArchiveShape {
  readonly clusters: number;
  /** Hourly; the first is of midnight. */
  readonly runs: number;
  readonly logBytes: number;
  readonly manifestBytes: number;
}

/** What is collected, and how slow the service and the archive are. */
export interface Workload {
  readonly clusters: number;
  readonly resources: readonly Resource[];
  readonly logBytes: number;
  readonly manifestBytes: number;
  /** Whether the service answers in gzip where it is accepted. */
  readonly serviceCompresses: boolean;
  /** Delay before each response, in milliseconds. */
  readonly serviceLatencyMs: number;
  readonly sinkLatencyMs: number;
  /** Bodies in flight at once, for contenders that have a limit. */
  readonly concurrency: number;
  /** The archive that is read back; left out: the fleet is collected. */
  readonly reads?: ArchiveShape & { readonly from: 'https' | 'folder' };
}

/** One run, as its contender and the servers are told of it. */
export interface Job extends Omit<Workload, 'clusters'> {
  readonly clusters: readonly string[];
  readonly serviceUrl: string;
  /** Endpoint of S3 and of Secrets Manager. */
  readonly awsUrl: string;
  readonly bucket: string;
  /** The service's API key. Our contender reads it from the secret instead. */
  readonly apiKey: string;
  /** PEM file of the certificate of both servers. */
  readonly caFile: string;
  /** Where the archive lies that is read back from a folder. */
  readonly archiveFolder?: string;
}
