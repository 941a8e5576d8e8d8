import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { auditEnvironmentNames } from '../../lambda/stack-contract';
import type { SigningKey } from '../aws/call';
import { resourcePolicySchema } from '../aws/iam/policy-document';
import { keysFolder } from '../aws/store/key-path';
import type { FunctionDefinition } from './function-definition';
import { type StackTemplate, UnsupportedTemplateError } from './stack-template';

const usageSchema = z.object({ KeyUsage: z.string().default('ENCRYPT_DECRYPT') });

const signingKeySchema = z.object({
  KeyPolicy: resourcePolicySchema,
  KeySpec: z.literal('ECC_NIST_P256'),
});

/** A signing key whose public key lies in a file, as somebody keeps it who exports it. */
export interface KeptSigningKey extends SigningKey {
  /** PEM. */
  readonly publicKeyFile: string;
}

/**
 * The stack's keys that sign. Their private keys lie beside the archive, as KMS keeps a key from one deployment to the
 * next: a new one would make the old seals look as if somebody else had signed them.
 * @param folder of the archive
 * @throws UnsupportedTemplateError for a kind of key that is not known here
 */
export function readSigningKeys(stack: StackTemplate, folder: string): KeptSigningKey[] {
  return stack
    .resourcesOf('AWS::KMS::Key')
    .filter((key) => key.read(usageSchema).KeyUsage === 'SIGN_VERIFY')
    .map((key) => {
      const file = join(folder, keysFolder, key.identity.ref);
      const privateKey = keptKey(`${file}.pem`);
      const publicKeyFile = `${file}.public.pem`;
      writeFileSync(publicKeyFile, createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }));
      return { arn: key.identity.arn, policy: key.read(signingKeySchema).KeyPolicy, privateKey, publicKeyFile };
    });
}

/**
 * The file with the public key that a function signs with.
 * @throws UnsupportedTemplateError if its key is none of the stack's
 */
export function publicKeyFileOf({ environment }: FunctionDefinition, keys: readonly KeptSigningKey[]): string {
  const wanted = environment[auditEnvironmentNames.signingKeyArn];
  const key = keys.find(({ arn }) => arn === wanted);
  if (key !== undefined) return key.publicKeyFile;
  throw new UnsupportedTemplateError(`Cannot sign seals with ${wanted}: it is no signing key of this stack.`);
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
