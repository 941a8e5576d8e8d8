import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOptional } from '../../archive/format/configuration';
import type { StampAuthority } from '../../archive/format/plan';
import { requestStamp } from '../../archive/prove';
import type { CollectorConfig } from '../../infra/config/config';
import { isExampleAddress } from '../../infra/config/schema-values';
import { configurationOf } from '../../infra/configuration-of';
import { formatBytes, formatDuration } from '../terminal/format';
import { apiKeyVariable } from '../terminal/terminal';
import { type Check, notSeenHere, right, type Shown, wrong } from './check';

/**
 * Asks the service for the log record of the first cluster, and checks the answer as a run does. Nothing is stored.
 * @param apiKey undefined: none is known
 */
export async function serviceCheck(config: CollectorConfig, apiKey: string | undefined): Promise<Shown> {
  const { service } = config;
  const asked = config.clusters.find((cluster) => !isOptional(cluster, new Date())) ?? config.clusters[0];
  if (isExampleAddress(service.baseUrl))
    return notSeenHere(`${service.baseUrl} is an example`, 'set service.baseUrl to the address of your service');
  if (apiKey === undefined)
    return notSeenHere('no API key is known here', `put it into the environment variable ${apiKeyVariable}`);
  if (asked === undefined) return notSeenHere('the clusters come from outside', 'the next run asks for them');
  const { openService } = await import('../../lambda/collect/wiring');
  const spoolDirectory = await mkdtemp(join(tmpdir(), 'collector-doctor-'));
  const api = openService(configurationOf(config), spoolDirectory);
  const request = {
    cluster: asked.uid,
    resource: 'log',
    projectUid: asked.projectUid ?? service.projectUid,
    requestId: asked.requestId,
  } as const;
  const began = performance.now();
  try {
    const { body } = await api.get(request, apiKey, new AbortController().signal);
    await body.release();
    const took = formatDuration(Math.round(performance.now() - began));
    return right(
      `${service.baseUrl} answered for cluster ${asked.uid} with a log record of ${formatBytes(body.length)} in ${took}`,
    );
  } catch (error) {
    // The error has no part of the key in it: the connection to the service takes it out.
    return wrong((error as Error).message, adviceFor(error));
  } finally {
    api.close();
    await rm(spoolDirectory, { recursive: true, force: true });
  }
}

function adviceFor(error: unknown): string {
  const status = (error as { status?: number }).status;
  if (status === 401 || status === 403)
    return 'ask the team of the service whether the key is valid and may read this cluster';
  if (status === 404) return 'check clusters, service.projectUid and service.collection in the configuration';
  if (status !== undefined) return 'ask the team of the service';
  return 'check service.baseUrl, and the network between this machine and it; the function may be in another network';
}

/** Asks each authority for a stamp of nothing, as the audit asks it for stamps of seals. Nothing is stored. */
export function stampChecks(authorities: readonly StampAuthority[]): Promise<Check[]> {
  const ask = async (authority: StampAuthority): Promise<Check> => {
    const what = `time stamps of ${authority.name}`;
    try {
      const { time } = await requestStamp(authority, createHash('sha256').digest());
      return { what, ...right(`${authority.url} stamped at ${time.toISOString()}`) };
    } catch (error) {
      const act =
        'check its url and caCertificateFile, and the way out of this network; the audit may be in another one';
      return { what, ...notSeenHere((error as Error).message, act) };
    }
  };
  return Promise.all(authorities.map(ask));
}
