import type { BodyCheck } from '../body/body-check';
import { createLogRecordCheck } from '../body/log-record';
import { createManifestCheck } from '../body/manifest';
import type { ResourceRequest } from './resource-request';

/** Makes the check for one body, once the answer's media type is known. */
export type CheckFactory = (mediaType: string | undefined) => BodyCheck;

/**
 * Called when the head of an answer has arrived.
 * @param received tells at any time how many bytes of the body have arrived, as they came over the wire
 */
export type OnHead = (status: number, received: () => number) => void;

/** The check for one body, chosen by what was asked for and by the answer's media type. */
export function checkFactory({ resource, cluster }: ResourceRequest, asReceived: boolean): CheckFactory {
  if (resource === 'log') return () => createLogRecordCheck(cluster);
  return (mediaType) => createManifestCheck({ mediaType, asReceived });
}
