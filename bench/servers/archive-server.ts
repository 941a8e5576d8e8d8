import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { answerCall, type LocalAwsOptions } from '../../local/aws/aws-endpoint';
import { rolePolicySchema } from '../../local/aws/iam/policy-document';
import { sendAnswer } from '../../local/aws/local-aws';
import type { Job } from '../workload';

const reader = {
  arn: 'arn:aws:iam::111122223333:role/bench',
  accessKeyId: 'bench',
  secretAccessKey: 'bench',
  policies: [rolePolicySchema.parse({ Statement: { Effect: 'Allow', Action: 's3:*', Resource: '*' } })],
};

const never = new Promise<undefined>(() => undefined);

let endpoint: LocalAwsOptions;

/** Objects that were sent since the server was reset. */
export let sentObjects = 0;

/** @param folder of the archive */
export function resetArchive({ bucket, sinkLatencyMs }: Job, folder: string): void {
  sentObjects = 0;
  endpoint = {
    region: 'eu-central-1',
    principals: [reader],
    buckets: [{ name: bucket, folder }],
    secrets: [],
    around: async (_call, execute) => {
      await delay(sinkLatencyMs);
      return execute();
    },
    onRequest: ({ action, status }) => {
      if (action === 'GetObject' && status === 200) sentObjects += 1;
    },
  };
}

/** Answers as S3, from the archive's folder. */
export function answerAsArchive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  return sendAnswer(request, response, () => answerCall(endpoint, request, never));
}
