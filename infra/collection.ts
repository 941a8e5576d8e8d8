import type { Collection } from '../lambda/settings';
import type { CollectorConfig } from './config';

/** The configuration as far as the function needs it. */
export function collectionOf({ service, clusters, limits, archive }: CollectorConfig): Collection {
  const { baseUrl, projectUid, collection, caCertificate } = service;
  return {
    service: { baseUrl, projectUid, collection, caCertificate },
    clusters,
    limits,
    compression: archive.compression,
  };
}
