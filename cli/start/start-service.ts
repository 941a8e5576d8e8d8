import { randomUUID } from 'node:crypto';
import type { CollectorConfig } from '../../infra/config/config';
import { startDemoService } from '../../local/demo-service/start-demo-service';
import { formatCount } from '../terminal/format';
import { apiKeyVariable } from '../terminal/terminal';
import { demoBaseUrl, type StartOptions, StartUsageError } from './start-options';

/** The service that a local run reads. */
export interface StartedService {
  readonly kind: 'demo' | 'real';
  readonly apiKey: string;
  /** The configuration with this service in it. */
  readonly config: CollectorConfig;
  /** A sentence about it, without a full stop. */
  readonly introduction: string;
  close(): Promise<void>;
}

/**
 * Starts the demo service if the configuration names the demo's address; otherwise the real service is read, with the key from
 * the environment.
 * @throws StartUsageError if the key is missing, or an option does not fit
 */
export async function startService(
  config: CollectorConfig,
  options: StartOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<StartedService> {
  if (config.service.baseUrl === demoBaseUrl) return startDemo(config, options);
  return readRealService(config, options, environment);
}

async function startDemo(config: CollectorConfig, { fail: failing = {} }: StartOptions): Promise<StartedService> {
  const apiKey = `demo-${randomUUID()}`;
  const { collection } = config.service;
  const service = await startDemoService({ apiKey, collection, failing });
  const { url } = service;
  const clusters = formatCount(config.clusters.length, 'cluster');
  return {
    kind: 'demo',
    apiKey,
    introduction: `The demo service at ${url} stands for ${demoBaseUrl}, with ${clusters}`,
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
  return { kind: 'real', introduction, apiKey, config, close: async () => {} };
}
