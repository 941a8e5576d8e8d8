import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { keysFolder } from '../../archive/format/folder-layout';
import type { SigningKey } from '../aws/call';
import { resourcePolicySchema } from '../aws/iam/policy-document';
import type { StackTemplate } from './stack-template';

const usageSchema = z.object({ KeyUsage: z.string().default('ENCRYPT_DECRYPT') });

const signingKeySchema = z.object({
  KeyPolicy: resourcePolicySchema,
  KeySpec: z.literal('ECC_NIST_P256'),
});

/**
 * The stack's keys that sign. Their private keys lie beside the archive, as KMS keeps a key from one deployment to the
 * next: a new one would make the old seals look as if somebody else had signed them. Their public keys lie in files, as
 * somebody keeps them who exports them.
 * @param folder of the archive
 * @throws UnsupportedTemplateError for a kind of key that is not known here
 */
export function readSigningKeys(stack: StackTemplate, folder: string): SigningKey[] {
  return stack
    .resourcesOf('AWS::KMS::Key')
    .filter((key) => key.read(usageSchema).KeyUsage === 'SIGN_VERIFY')
    .map((key) => {
      const { arn } = key.identity;
      const privateKey = keptKey(keyFile(folder, arn, '.pem'));
      const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
      writeFileSync(keyFile(folder, arn, '.public.pem'), publicKey);
      return { arn, policy: key.read(signingKeySchema).KeyPolicy, privateKey };
    });
}

/**
 * Where a key lies, in PEM.
 * @param folder of the archive
 * @param end `.pem` of the private key, `.public.pem` of the public one
 */
export function keyFile(folder: string, keyArn: string, end: '.pem' | '.public.pem'): string {
  return join(folder, keysFolder, basename(keyArn) + end);
}

function keptKey(file: string): KeyObject {
  mkdirSync(dirname(file), { recursive: true });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  try {
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { flag: 'wx', mode: 0o600 });
    return privateKey;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return createPrivateKey(readFileSync(file));
  }
}
