import type { ResourceRequest } from '../service/resource-request';
import type { BodyCheck } from './body-check';
import { createLogRecordCheck } from './log-record';
import { createManifestCheck } from './manifest';

/** The check for one body, chosen by what was asked for and how the service calls what it sends. */
export function createCheck(
  { resource, cluster }: ResourceRequest,
  mediaType: string | undefined,
  asReceived: boolean,
): BodyCheck {
  return resource === 'log' ? createLogRecordCheck(cluster) : createManifestCheck({ mediaType, asReceived });
}
