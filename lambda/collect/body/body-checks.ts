import type { Resource } from '../../../archive/format/resources';
import type { BodyCheck } from './body-check';
import { LogRecordCheck } from './log-record';
import { createManifestCheck } from './manifest';
import type { ManifestAnswer } from './manifest-content';

/** What a check has to know of a request and its answer. */
export interface CheckedAnswer extends ManifestAnswer {
  readonly cluster: string;
  /** Whether the body is kept as received because decoding it has failed. */
  readonly asReceived: boolean;
}

/** The check of each resource's body. */
export const bodyChecks: Readonly<Record<Resource, (answer: CheckedAnswer) => BodyCheck>> = {
  log: ({ cluster, mediaType }) => new LogRecordCheck(cluster, mediaType),
  manifest: ({ asReceived, ...answer }) => createManifestCheck(answer, asReceived),
};
