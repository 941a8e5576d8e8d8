import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { SigningKey } from '../aws/call';
import { metadataFolder } from '../aws/store/key-path';
import { policyDocumentSchema } from './role';
import type { StackTemplate } from './stack-template';

const usageSchema = z.object({ KeyUsage: z.string().default('ENCRYPT_DECRYPT') });

const signingKeySchema = z.object({
  KeyPolicy: policyDocumentSchema,
  KeySpec: z.literal('ECC_NIST_P256'),
});

/**
 * The stack's keys that sign. Their private keys lie beside the archive, as KMS keeps a key from one deployment to the
 * next: a new one would make the old seals look as if somebody else had signed them.
 * @param folder of the archive
 * @throws UnsupportedTemplateError for a kind of key that is not known here
 */
export function readSigningKeys(stack: StackTemplate, folder: string): SigningKey[] {
  return stack
    .resourcesOf('AWS::KMS::Key')
    .filter((key) => key.read(usageSchema).KeyUsage === 'SIGN_VERIFY')
    .map((key) => ({
      arn: key.identity.arn,
      policy: key.read(signingKeySchema).KeyPolicy,
      privateKey: keptKey(join(folder, `${metadataFolder}-keys`), `${key.identity.ref}.pem`),
    }));
}

function keptKey(folder: string, name: string): KeyObject {
  const file = join(folder, name);
  mkdirSync(folder, { recursive: true });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  try {
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { flag: 'wx', mode: 0o600 });
    return privateKey;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return createPrivateKey(readFileSync(file));
  }
}
