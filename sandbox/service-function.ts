import { setTimeout as wait } from 'node:timers/promises';
import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from 'aws-lambda';
import { startDemoService } from '../local/demo-service/start-demo-service';
import { slowCluster, slowMs } from './clusters';

/** The demo service, behind the address of a function. */
export const service = startDemoService({ apiKey: () => process.env.API_KEY ?? '' });

export async function handler({
  rawPath,
  rawQueryString,
  headers,
}: LambdaFunctionURLEvent): Promise<LambdaFunctionURLResult> {
  if (rawPath.includes(`/${slowCluster}/`)) await wait(slowMs);
  const { url } = await service;
  const query = rawQueryString === '' ? '' : `?${rawQueryString}`;
  const passed = Object.entries(headers).filter(([name]) => ['apikey', 'projectuid'].includes(name));
  const answer = await fetch(`${url}${rawPath}${query}`, {
    headers: Object.fromEntries(passed) as Record<string, string>,
  });
  const type = answer.headers.get('content-type');
  return {
    statusCode: answer.status,
    ...(type !== null && { headers: { 'content-type': type } }),
    body: await answer.text(),
  };
}
