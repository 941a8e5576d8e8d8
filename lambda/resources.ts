/**
 * The two things that are read per cluster, as data. Everything that differs between them is here or in their body
 * check; adding a third resource starts here.
 */
export interface ResourceContract {
  /** Path below the cluster (service contract, sections 4.1 and 4.2). */
  readonly path: string;
  /** Whether the call takes the optional query parameter `requestId` (section 4.1 only). */
  readonly takesRequestId: boolean;
  /** Whether the content itself shows where it ends, so that a cut body never passes for a whole one. */
  readonly showsItsEnd: boolean;
  /** First segment of the archive key. */
  readonly folder: string;
  /** File ending of the stored content, before the one of its compression. */
  readonly extension: string;
  /** Content-Type of the stored object. */
  readonly contentType: string;
}

export const resources = {
  log: {
    path: 'features/logFetcher',
    takesRequestId: true,
    showsItsEnd: true,
    folder: 'logs',
    extension: 'json',
    contentType: 'application/json',
  },
  manifest: {
    path: 'assets/manifest',
    takesRequestId: false,
    showsItsEnd: false,
    folder: 'manifests',
    extension: 'txt',
    contentType: 'text/plain; charset=utf-8',
  },
} as const satisfies Record<string, ResourceContract>;

export type Resource = keyof typeof resources;

export const resourceNames = Object.keys(resources) as Resource[];

/** What a check learned about a body; a member is absent where the body does not say. */
export interface BodyFacts {
  /** `status.state` (service contract, section 3): opaque text. */
  readonly state?: string;
  /** `metadata.uid`. */
  readonly recordUid?: string;
  /** `metadata.lastModifiedTimestamp`, as received. */
  readonly lastModified?: string;
  /** Length of `spec.log` in bytes of UTF-8. */
  readonly logLength?: number;
  /** Lines of `spec.log`; a last one without LF counts. */
  readonly logLines?: number;
  /** SHA-256 of the bytes between the quotes of `spec.log` as received, lower-case hex; absent: it is too long. */
  readonly logSha256?: string;
  /** Why it is not certain that the body is right, in words; no failure. */
  readonly doubt?: string;
}

/** Who has compressed what is stored: the collector, or the service, whose answer is then stored as it came. */
export const encoderNames = ['service', 'collector'] as const;

export type EncodedBy = (typeof encoderNames)[number];
