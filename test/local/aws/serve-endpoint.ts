import { startLocalAws } from '../../../local/aws/local-aws';
import { heldBytes } from '../../support/held-bytes';
import { accountId, admin, everythingPolicy, region } from './endpoint-setup';

/** Runs the endpoint in a process of its own. Sends its address to the parent, and the bytes it holds in answer to any message. */
async function serve(folder: string): Promise<void> {
  const arn = `arn:aws:iam::${accountId}:role/admin`;
  const principals = [{ ...admin, arn, policies: [everythingPolicy] }];
  const { url } = await startLocalAws({
    region,
    principals,
    buckets: [{ name: 'archive', folder }],
    secrets: [],
  });
  process.on('message', () => process.send?.({ held: heldBytes() }));
  process.send?.({ url });
}

void serve(process.argv[2] ?? '');
