import type { KeyPairKeyObjectResult } from 'node:crypto';
import { counted } from '../../../archive/format/counted';
import { sealKey } from '../../../archive/format/keys';
import { ArchiveReadError } from '../../../archive/read';
import { FolderArchiveReader } from '../../../archive/read/folder-archive-reader';
import { sealsIn } from '../../../cli/doctor/archive-checks';
import { asMyself } from '../../../cli/doctor/own-credentials';
import { ArchiveFixture, hour, plainAnswer } from '../archive-fixture';
import { SealFixture, signingKeys } from '../seal-fixture';

const base64 = ({ publicKey }: KeyPairKeyObjectResult) =>
  publicKey.export({ format: 'der', type: 'spki' }).toString('base64');

it('doctor believes the key of the stack and those that it replaced, and says what the newest seal has open', async () => {
  const archive = await ArchiveFixture.create();
  const reader = new FolderArchiveReader(archive.folder);
  const [former, own] = [signingKeys(), signingKeys()];
  const both = [base64(former), base64(own)];
  expect(await sealsIn(reader, both)).toMatchObject({ verdict: 'right', act: 'the audit makes the first' });
  await archive.attempt({ run: hour(8), clusters: ['a'], answer: plainAnswer });
  const seals = new SealFixture(archive, former);
  await seals.seal({ at: hour(9) });
  await seals.seal({ at: hour(10), keys: own });
  const found = 'seal 2 of 2026-11-20T10:00:00Z is right, and nothing is damaged by it';
  expect(await sealsIn(reader, both)).toEqual({ verdict: 'right', found });
  const unknown = await sealsIn(reader, [base64(former)]);
  expect(unknown).toMatchObject({
    verdict: 'wrong',
    found: expect.stringMatching(/^1 not right, such as seals\/00000002/),
  });
  const open = [{ kind: 'missing' as const, key: 'logs/x', problem: 'it is not there', since: hour(11).toISOString() }];
  await seals.seal({ at: hour(11), keys: own, state: { open: counted(open, 9) } });
  const damage = 'damage open since 2026-11-20T11:00:00Z: 1, says seal 3 of 2026-11-20T11:00:00Z';
  expect(await sealsIn(reader, both)).toMatchObject({ verdict: 'wrong', found: damage });
  await archive.put(sealKey(4), Buffer.from('{}\n'), {});
  expect((await sealsIn(reader, both)).found).toMatch(/^1 not right, such as seals\/00000004/);
});

it.each([
  'seals/0',
  'seals/states/',
])('doctor has not seen what its credentials may list and not read: %s', async (refused) => {
  const archive = await ArchiveFixture.create();
  const keys = signingKeys();
  await archive.attempt({ run: hour(8), clusters: ['a'], answer: plainAnswer });
  await new SealFixture(archive, keys).seal({ at: hour(9) });
  class Refusing extends FolderArchiveReader {
    override async open(key: string) {
      if (!key.startsWith(refused)) return super.open(key);
      throw new ArchiveReadError(`Reading ${key} failed: 403 AccessDenied`, { isLasting: true });
    }
  }
  const reader = new Refusing(archive.folder);
  await expect(sealsIn(asMyself(reader), [base64(keys)])).rejects.toThrow(/403 AccessDenied/);
  expect(await sealsIn(asMyself(new FolderArchiveReader(archive.folder)), [base64(keys)])).toMatchObject({
    verdict: 'right',
  });
});
