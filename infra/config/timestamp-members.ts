import { X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import * as z from 'zod';
import type { PlannedAuthority } from '../../lambda/stack-contract';
import { readCertificates } from './config-files';
import { members, textLike } from './schema-values';

/**
 * The member `audit.timestamps`.
 * @param folder that the names of the files of certificates are relative to
 */
export function timestamps(folder: string) {
  const root = z
    .string('the path of a PEM file')
    .min(1, 'the path of a PEM file')
    .describe('PEM file, relative to this file, with the one root certificate that the stamps have to lead to.')
    .transform((file, context) => {
      const read = readCertificates(resolve(folder, file), new Date());
      const count = 'pem' in read ? read.pem.split('BEGIN CERTIFICATE').length - 1 : 0;
      if ('pem' in read && count === 1) return new X509Certificate(read.pem).raw.toString('base64');
      const fault = 'fault' in read ? read.fault : `it holds ${count} certificates`;
      const message = `a PEM file with one certificate that has not expired (${fault})`;
      context.addIssue({ code: 'custom', message, input: file });
      return z.NEVER;
    });
  const authority = members({
    name: textLike(
      /^[a-z][a-z0-9-]{0,19}$/,
      'a lower-case letter, then lower-case letters, digits and hyphens, at most 20 in all',
    ).describe('Names the stored stamps: seals/00000042.NAME.tsr.'),
    url: textLike(/^https?:\/\/[^\s/@]+(\/\S*)?$/, 'an http or https address without credentials').describe(
      'Where the authority answers (RFC 3161). http will do: the answer is signed.',
    ),
    caCertificateFile: root,
  }).transform(({ caCertificateFile, ...others }): PlannedAuthority => ({ ...others, root: caCertificateFile }));
  return z
    .array(authority, 'a list of authorities')
    .max(3, 'at most 3 authorities')
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'a name of its own for each authority')
    .describe('Third parties that say when each seal existed (docs/proof.md), two at best; left out: nobody is asked.');
}
