import type { Readable } from 'node:stream';

/** Text, or a stream of its UTF-8 bytes. */
export type Content = string | Readable;

/** What the demo service knows about its clusters; `undefined` stands for a cluster or resource that does not exist. */
export interface ClusterSource {
  clusterUids(): Promise<readonly string[]>;
  /** Text of `spec.log` as it is at that time. */
  log(uid: string, at: Date): Promise<Content | undefined>;
  manifest(uid: string, at: Date): Promise<Content | undefined>;
  /** Of the log; asked before the log itself. */
  describe(uid: string, at: Date): Promise<LogDescription | undefined>;
}

export interface LogDescription {
  /** `status.state` */
  readonly state: string;
  /** `metadata.lastModifiedTimestamp` */
  readonly lastModified: Date;
}
