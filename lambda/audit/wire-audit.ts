import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Context } from 'aws-lambda';
import type { AuditPlan } from '../../archive/format/plan';
import { requestStamp } from '../../archive/prove/attest';
import { S3ArchiveReader } from '../../archive/read/s3-archive-reader';
import { version } from '../../package.json';
import { createS3Client } from '../aws-clients';
import { systemClock as clock } from '../clock';
import { S3Archive } from '../collect/put/s3-archive';
import { readVariables } from '../environment';
import { openHeartbeat } from '../heartbeat';
import type { Mail } from '../notify/mail';
import { SnsMailer } from '../notify/sns-mailer';
import { auditFile, auditVariables, metricNames, metricNamespace } from '../stack-contract';
import { Stop } from '../stop';
import { deadlineReserveSeconds } from '../time-limits';
import { type AuditReporter, type AuditResult, audit } from './audit';
import { KmsSigner } from './kms-signer';

/** Connections to S3 at once: more than are read at once, because seals are written too. */
const connections = 24;

/**
 * The composition root. Once per execution environment: what is configured and the clients. Once per audit: the deadline.
 * @returns what makes an audit of a time; undefined: of now
 * @throws SettingsError
 */
export function wireAudit(
  variables: NodeJS.ProcessEnv,
  codeDirectory: string,
): (time: Date | undefined, invocation: Context) => Promise<AuditResult> {
  const logger = new Logger();
  const metrics = new Metrics({ namespace: metricNamespace });
  const names = readVariables(auditVariables, variables);
  const heartbeat = openHeartbeat(variables, logger, metrics);
  const bucket = names.ARCHIVE_BUCKET;
  // It was validated when the stack was synthesised and is part of the deployed code, so it is not validated again.
  const plan: AuditPlan = JSON.parse(readFileSync(join(codeDirectory, auditFile), 'utf8'));
  const s3 = createS3Client(connections, (warning) => logger.warn(warning));
  const reader = new S3ArchiveReader(bucket, s3);
  const sink = new S3Archive(s3, bucket, clock);
  const signer = new KmsSigner(names.SIGNING_KEY_ARN);
  const inform = new SnsMailer(names.TOPIC_ARN);
  /** Undefined: one group gets everything. */
  const page = names.PAGE_TOPIC_ARN === names.TOPIC_ARN ? undefined : new SnsMailer(names.PAGE_TOPIC_ARN);
  const mailTo = async (mail: Mail) => {
    const groups = mail.pages && page !== undefined ? [page, inform] : [inform];
    // One topic that refuses must not keep the mail from the other.
    const results = await Promise.allSettled(groups.map((group) => group.send(mail)));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  };
  const reporter = lambdaReporter(logger, metrics);

  const shared = { plan, reader, sink, signer, reporter, clock, requestStamp, collectorVersion: version };
  return async (time, invocation) => {
    logger.addContext(invocation);
    const stop = new Stop(() => invocation.getRemainingTimeInMillis() - deadlineReserveSeconds * 1000);
    try {
      const result = await audit(time, { ...shared, mail: mailTo, stop: stop.working });
      const { number, sha256 } = result;
      await heartbeat?.tell({ number, sha256 }, invocation.getRemainingTimeInMillis());
      return result;
    } finally {
      stop.close();
    }
  };
}

/** Reports to the structured log and to CloudWatch's metrics: a line and the metrics per seal. */
function lambdaReporter(logger: Logger, metrics: Metrics): AuditReporter {
  return {
    sealed(result, { latePasses, unstamped, ...figures }) {
      const line = { ...result, latePasses, unstamped, ...figures };
      if (result.damage === 0) logger.info('archive sealed', line);
      else logger.error('archive sealed, damage found', line);
      const { carriedOver, carriedOverRecords } = result.verified;
      const values = {
        sealsWritten: 1,
        auditFindings: result.damage,
        // A pass that is late is left for the next audit too, and so is a stamp.
        auditCarriedOver: carriedOver + carriedOverRecords + latePasses + unstamped,
        ...figures,
      };
      for (const [name, value] of Object.entries(values))
        metrics.addMetric(metricNames[name as keyof typeof values], MetricUnit.Count, value);
      metrics.publishStoredMetrics();
    },
    notMailed(error) {
      logger.error('mail not sent', { error });
      metrics.addMetric(metricNames.mailsLost, MetricUnit.Count, 1);
      metrics.publishStoredMetrics();
    },
  };
}
