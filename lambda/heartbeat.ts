import { isNativeError } from 'node:util/types';
import type { Logger } from '@aws-lambda-powertools/logger';
import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { GetSecretValueCommand, ResourceNotFoundException } from '@aws-sdk/client-secrets-manager';
import { createSecretsManagerClient } from './aws-clients';
import { readVariables } from './environment';
import { heartbeatVariables, logMessages, metricNames } from './stack-contract';

/** How long the monitoring service may take to answer a request, in milliseconds. */
const patienceMs = 10_000;

/** Requests in all: the first, and once again. */
const mostRequests = 2;

/** What is left of an invocation's time for its end, in milliseconds. */
const reserveMs = 2_000;

/**
 * The monitoring service did not take a message. It has no cause: errors of URLs, of connections and of the SDK quote what they
 * failed on, and whoever knows the address can say that all is well.
 */
class HeartbeatError extends Error {
  override readonly name = 'HeartbeatError';
}

type Said = Readonly<Record<string, unknown>>;

/**
 * Tells a monitoring service outside of the account that a run is complete, or that a seal is stored. It raises its own alarm when
 * nothing comes any more, and keeps the hashes of seals where nobody in the account can rewrite them.
 */
export class Heartbeat {
  /** @param secret name of the secret that holds the address, as a plain string */
  constructor(
    private readonly secret: string,
    private readonly stack: string,
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly metrics: Metrics,
    private readonly client = createSecretsManagerClient(),
  ) {}

  /**
   * Never fails: what was archived stays archived, whoever hears of it. A failure is a line of the log and a metric.
   * @param what members of the message, or what finds them, with a signal that ends it
   * @param timeLeftMs milliseconds until Lambda ends the invocation, which would count as a failure of the run
   * @returns whether the service took it
   */
  async tell(what: Said | ((whole: AbortSignal) => Promise<Said>), timeLeftMs: number): Promise<boolean> {
    const whole = AbortSignal.timeout(Math.max(0, timeLeftMs - reserveMs));
    try {
      const said = typeof what === 'function' ? await what(whole) : what;
      await this.#post(await this.#address(whole), JSON.stringify({ stack: this.stack, ...said }), whole);
      return true;
    } catch (error) {
      this.logger.warn(logMessages.heartbeat, { error });
      this.metrics.addMetric(metricNames.heartbeatsLost, MetricUnit.Count, 1);
      this.metrics.publishStoredMetrics();
      return false;
    }
  }

  /** Read each time: whoever replaces the address deploys nothing. */
  async #address(whole: AbortSignal): Promise<URL> {
    const failed = (reason: string) =>
      new HeartbeatError(`Reading the address of the heartbeat from the secret ${this.secret} failed: ${reason}`);
    const signal = AbortSignal.any([whole, AbortSignal.timeout(patienceMs)]);
    const { SecretString: text = '' } = await this.client
      .send(new GetSecretValueCommand({ SecretId: this.secret }), { abortSignal: signal })
      .catch((error: unknown) => {
        if (error instanceof ResourceNotFoundException) throw failed('it does not exist, or has no value');
        // An answer that is not JSON: the SDK's error quotes it, and it holds the address.
        if (!isNativeError(error) || error.name === 'SyntaxError') throw failed('the answer is not one of AWS');
        throw failed(`${error.name}: ${error.message}`);
      });
    const address = text.trim();
    if (!URL.canParse(address)) throw failed('its value is not an address; set it to the address as a plain string');
    const url = new URL(address);
    const isLoopback = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))
      throw failed('its value is not an https address; on the way everybody could read another one');
    if (url.username !== '' || url.password !== '')
      throw failed('its value has a user or a password in the address; use an address without');
    return url;
  }

  async #post(url: URL, body: string, whole: AbortSignal): Promise<void> {
    let reason = '';
    for (let made = 0; made < mostRequests; made += 1) {
      reason = await this.#request(url, body, AbortSignal.any([whole, AbortSignal.timeout(patienceMs)]));
      if (reason === '') return;
    }
    const where = `the address in the secret ${this.secret}`;
    throw new HeartbeatError(`Telling ${where} failed in ${mostRequests} requests; the last one: ${reason}`);
  }

  /** @returns why the service did not take it; empty: it did */
  async #request(url: URL, body: string, signal: AbortSignal): Promise<string> {
    try {
      const headers = { 'content-type': 'application/json' };
      // Another address than the configured one gets nothing.
      const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      await answer.body?.cancel();
      return answer.ok ? '' : `it answered with the status ${answer.status}`;
    } catch (error) {
      if (signal.aborted) return 'it did not answer in time';
      // The code alone, such as ECONNREFUSED: the message names the host.
      const { cause } = error as { cause?: { code?: unknown } };
      return `the connection failed (${typeof cause?.code === 'string' ? cause.code : 'no code'})`;
    }
  }
}

/**
 * @returns undefined: the stack has none
 * @throws SettingsError
 */
export function openHeartbeat(variables: NodeJS.ProcessEnv, logger: Logger, metrics: Metrics): Heartbeat | undefined {
  if (variables.HEARTBEAT_SECRET === undefined) return undefined;
  const { HEARTBEAT_SECRET, STACK } = readVariables(heartbeatVariables, variables);
  return new Heartbeat(HEARTBEAT_SECRET, STACK, logger, metrics);
}
