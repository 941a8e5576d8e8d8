import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Alerts } from './alerts';
import type { ApiKeySecret } from './api-key-secret';
import type { Archive } from './archive';
import type { Audit } from './audit';
import type { Collector } from './collector';
import type { CollectorConfig } from './config/config';
import type { FailureMessages } from './failure-messages';
import type { RunSchedule } from './run-schedule';

/** What a stack consists of, for what watches it and what links to it. */
export interface Parts {
  readonly config: CollectorConfig;
  readonly apiKeySecret: ApiKeySecret;
  readonly archive: Archive;
  readonly collector: Collector;
  /** Works on the shards of a fleet that is too large for one invocation; undefined if there is one shard. */
  readonly stateMachine: IStateMachine | undefined;
  readonly schedule: RunSchedule;
  /** Verifies and seals the archive; undefined if nothing does. */
  readonly audit: Audit | undefined;
  readonly failures: FailureMessages;
  /** Gets the alarms that wake people. */
  readonly page: Alerts;
  /** Gets everything else; the same as `page` if there is one list of recipients. */
  readonly inform: Alerts;
}
