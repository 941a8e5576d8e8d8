import { startLocalAws } from '../../../local/aws/local-aws';
import { accountId, credentials, everythingPolicy, region } from './endpoint-setup';

/** The endpoint in a process of its own: says its address to its parent, and on any message how much memory it holds. */
async function serve(folder: string): Promise<void> {
  const arn = `arn:aws:iam::${accountId}:role/admin`;
  const principals = [{ ...credentials, arn, policies: [everythingPolicy] }];
  const { url } = await startLocalAws({
    region,
    accountId,
    principals,
    buckets: [{ name: 'archive', folder }],
    secrets: [],
  });
  process.on('message', () => process.send?.({ rss: process.memoryUsage.rss() }));
  process.send?.({ url });
}

void serve(process.argv[2] ?? '');
