import { randomUUID } from 'node:crypto';
import type { CollectorConfig } from '../../infra/config/config';
import { demoContent } from '../../local/demo-service/demo-content';
import { folderContent } from '../../local/demo-service/folder-content';
import { type ClusterSource, startDemoService } from '../../local/demo-service/start-demo-service';
import { formatCount } from '../terminal/format';
import { apiKeyVariable } from '../terminal/terminal';
import { demoBaseUrl, type StartOptions, StartUsageError } from './start-options';

/** The service that a local run reads. */
export interface StartedService {
  readonly kind: 'demo' | 'folder' | 'real';
  readonly url: string;
  readonly apiKey: string;
  /** The configuration with this service in it. */
  readonly config: CollectorConfig;
  /** A sentence about it, without a full stop. */
  readonly introduction: string;
  close(): Promise<void>;
}

/**
 * Starts the demo service if the configuration names the demo's address or a folder is to be served; otherwise the real
 * service is read, with the key from the environment.
 * @throws StartUsageError if the folder or the key is missing, or an option does not fit
 */
export async function startService(
  config: CollectorConfig,
  options: StartOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<StartedService> {
  if (options.serve !== undefined) return serveFolder(config, options, options.serve);
  if (config.service.baseUrl === demoBaseUrl) return startDemo('demo', config, options, demoContent());
  return readRealService(config, options, environment);
}

async function serveFolder(config: CollectorConfig, options: StartOptions, folder: string): Promise<StartedService> {
  const source = folderContent(folder);
  const uids = await source.clusterUids().catch((error: NodeJS.ErrnoException) => {
    throw new StartUsageError(`Serving ${folder} failed: ${error.code}; expected a folder with a folder per cluster.`, {
      cause: error,
    });
  });
  if (uids.length === 0)
    throw new StartUsageError(
      `Serving ${folder} failed: it has no cluster; expected folders <uid>/ with log.txt and manifest.yaml.`,
    );
  // Without this, the run would fail with 404 and send the reader to the configuration.
  const missing = await source.missing();
  if (missing.length > 0)
    throw new StartUsageError(
      [`Serving ${folder} failed: each cluster's folder needs a log and a manifest.`, ...missing.slice(0, 10)].join(
        '\n  ',
      ) + (missing.length > 10 ? `\n  and ${missing.length - 10} more` : ''),
    );
  return startDemo('folder', { ...config, clusters: uids.map((uid) => ({ uid })) }, options, source);
}

async function startDemo(
  kind: 'demo' | 'folder',
  config: CollectorConfig,
  { fail: failing = {}, serve }: StartOptions,
  source: ClusterSource,
): Promise<StartedService> {
  const apiKey = `demo-${randomUUID()}`;
  const { collection } = config.service;
  const service = await startDemoService({ apiKey, source, collection, failing });
  const { url } = service;
  const clusters = formatCount(config.clusters.length, 'cluster');
  return {
    kind,
    apiKey,
    url,
    introduction:
      kind === 'folder'
        ? `${serve} is served at ${url}, with ${clusters}`
        : `The demo service at ${url} stands for ${demoBaseUrl}, with ${clusters}`,
    // The demo service has no certificate, so the real one's authority does not apply.
    config: { ...config, service: { ...config.service, baseUrl: url, caCertificate: undefined } },
    close: () => service.close(),
  };
}

function readRealService(
  config: CollectorConfig,
  { fail }: StartOptions,
  environment: Readonly<Record<string, string | undefined>>,
): StartedService {
  const { baseUrl } = config.service;
  if (fail !== undefined)
    throw new StartUsageError(`--fail is for the demo service, but the configuration names ${baseUrl}; leave it out.`);
  const apiKey = environment[apiKeyVariable];
  if (apiKey === undefined || apiKey === '')
    throw new StartUsageError(
      `Reading ${baseUrl} needs its API key in the environment variable ${apiKeyVariable}, which is not set.\n` +
        `Type: read -rs ${apiKeyVariable} && export ${apiKeyVariable}   (then paste the key and press Enter)`,
    );
  const introduction = `Reading ${formatCount(config.clusters.length, 'cluster')} from ${baseUrl}`;
  return { kind: 'real', url: baseUrl, introduction, apiKey, config, close: async () => {} };
}
