/**
 * The things that are read per cluster, as data. Everything that differs between them is here, in `lambda/collect/body/body-checks.ts`,
 * or in the tables of the local deployment: each a `Record<Resource, …>`, so that the compiler names what a
 * further resource lacks. Nothing else compares a resource with a literal.
 */
export interface ResourceContract {
  /** Path below the cluster (service contract, sections 4.1 and 4.2). */
  readonly path: string;
  /** Whether the call takes the optional query parameter `requestId` (section 4.1 only). */
  readonly takesRequestId: boolean;
  /** What the request accepts: the media types that are known, the first before all others. */
  readonly accept: string;
  /** Whether the content itself shows where it ends, so that a cut body never passes for a whole one. */
  readonly showsItsEnd: boolean;
  /** What people call one of them, in headings. */
  readonly heading: string;
  /** What people call several of them. */
  readonly headings: string;
  /** Whether the content is a log record, whose text `spec.log` goes on from run to run; otherwise the content is the text. */
  readonly holdsLog: boolean;
  /** Whether it is expected to be another at each run, so that a change is nothing to report. */
  readonly isAlwaysNew: boolean;
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
    accept: 'application/json',
    showsItsEnd: true,
    heading: 'Log',
    headings: 'Logs',
    holdsLog: true,
    isAlwaysNew: true,
    folder: 'logs',
    extension: 'json',
    contentType: 'application/json',
  },
  manifest: {
    path: 'assets/manifest',
    takesRequestId: false,
    // The reference request accepts JSON. The manifest's media type is not known, and a service that has another would answer 406.
    accept: 'application/json, */*;q=0.9',
    showsItsEnd: false,
    heading: 'Manifest',
    headings: 'Manifests',
    holdsLog: false,
    isAlwaysNew: false,
    folder: 'manifests',
    extension: 'txt',
    contentType: 'text/plain; charset=utf-8',
  },
} as const satisfies Record<string, ResourceContract>;

export type Resource = keyof typeof resources;

export const resourceNames = Object.keys(resources) as Resource[];

/**
 * What a cluster means that does not say which resources are collected of it: those that there were at first. Configurations
 * are stored with the resources written out, so this is for archives of earlier versions, and never changes.
 */
export const firstResources = ['log', 'manifest'] as const satisfies readonly Resource[];

export type FirstResource = (typeof firstResources)[number];

/** An object with a member for each resource. */
export function forEachResource<Value>(make: (resource: Resource) => Value): Record<Resource, Value> {
  return Object.fromEntries(resourceNames.map((name) => [name, make(name)])) as Record<Resource, Value>;
}

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
