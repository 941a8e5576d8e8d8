import { sealKey } from '../../lambda/archive/archive-layout';
import type { ArchiveReader } from '../../lambda/verify/archive-reader';
import { openDamage } from '../../lambda/verify/seals/open-damage';
import { readHead } from '../../lambda/verify/seals/read-chain';
import { parsePublicKey } from '../../lambda/verify/seals/seal-file';
import { openBucket } from '../archive/open-archive';
import { withAws } from '../stack/aws-access';
import { formatTime } from '../terminal/format';
import { ok, problem, type Shown, warning } from './check';

/** What the newest seal says, by the stack's signing key and those that it replaced. */
export async function sealsOf(
  { archiveBucket, region }: { readonly archiveBucket: string; readonly region: string },
  signingKeyArn: string,
  formerPublicKeys: readonly string[] = [],
): Promise<Shown> {
  const { KMSClient, GetPublicKeyCommand } = await import('@aws-sdk/client-kms');
  const { PublicKey = [] } = await withAws(`Reading the public key of ${signingKeyArn}`, () =>
    new KMSClient({ region }).send(new GetPublicKeyCommand({ KeyId: signingKeyArn })),
  );
  const own = Buffer.from(PublicKey).toString('base64');
  return sealsIn(await openBucket(archiveBucket, region), [...formerPublicKeys, own]);
}

/** @param keys that may have signed the seals, as base64 */
export async function sealsIn(reader: ArchiveReader, keys: readonly string[]): Promise<Shown> {
  const wrong: string[] = [];
  const publicKeys = keys.flatMap((key) => parsePublicKey(key) ?? []);
  const { passedOver, head, state } = await readHead(reader, { publicKeys }, (_, key, why) =>
    wrong.push(`${key}: ${why}`),
  );
  for (const { number, why } of passedOver.values()) wrong.push(`${sealKey(number)}: ${why}`);
  const act = 'see docs/alarms.md, "Audit found damage"';
  if (wrong.length > 0) return problem(`${wrong.length} not right, such as ${wrong[0]}`, act);
  if (head === undefined) return warning('none yet', 'the audit makes the first');
  const { count, since } = openDamage({ ...head, ...state });
  const which = `seal ${head.number} of ${formatTime(head.seal)}`;
  if (since !== undefined) return problem(`damage open since ${formatTime(since)}: ${count}, says ${which}`, act);
  return ok(`${which} is right, and nothing is damaged by it`);
}
