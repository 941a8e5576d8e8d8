import type { Resource } from '../../../archive/format/resources';
import type { BodyCheck } from './body-check';
import { LogRecordCheck } from './log-record';
import { createManifestCheck } from './manifest';

/** What a check has to know of a request and its answer. */
export interface CheckedAnswer {
  readonly cluster: string;
  /** The answer's Content-Type with its parameters; undefined if it has none. */
  readonly mediaType: string | undefined;
  /** Whether the body is kept as received because decoding it has failed. */
  readonly asReceived: boolean;
}

/** The check of each resource's body. */
export const bodyChecks: Readonly<Record<Resource, (answer: CheckedAnswer) => BodyCheck>> = {
  log: ({ cluster }) => new LogRecordCheck(cluster),
  manifest: ({ mediaType, asReceived }) => createManifestCheck(mediaType, asReceived),
};
