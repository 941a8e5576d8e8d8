import { X509Certificate } from 'node:crypto';
import * as z from 'zod';
import type { StampAuthority } from '../../archive/format/plan';
import { certificateFile } from './config-files';
import { members, textLike } from './schema-values';

/**
 * The member `audit.timestamps`.
 * @param folder that the names of the files of certificates are relative to
 */
export function timestamps(folder: string) {
  const root = certificateFile(
    folder,
    'PEM file, relative to this file, with the one root certificate that the stamps have to lead to.',
  )
    .refine((pem) => pem.match(/BEGIN CERTIFICATE/g)?.length === 1, 'a PEM file with one certificate')
    .transform((pem) => new X509Certificate(pem))
    .refine((one) => one.checkIssued(one), 'a root certificate, which signed itself: openssl trusts no other')
    .transform(({ raw }) => raw.toString('base64'));
  const authority = members({
    name: textLike(
      /^[a-z][a-z0-9-]{0,19}$/,
      'a lower-case letter, then lower-case letters, digits and hyphens, at most 20 in all',
    ).describe('Names the stored stamps: seals/00000042.NAME.tsr.'),
    url: textLike(/^https?:\/\/[^\s/@]+(\/\S*)?$/, 'an http or https address without credentials').describe(
      'Where the authority answers (RFC 3161). http will do: the answer is signed.',
    ),
    caCertificateFile: root,
  }).transform(({ caCertificateFile, ...others }): StampAuthority => ({ ...others, root: caCertificateFile }));
  return z
    .array(authority, 'a list of authorities')
    .max(3, 'at most 3 authorities')
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'a name of its own for each authority')
    .describe('Third parties that say when each seal existed (docs/proof.md), two at best; left out: nobody is asked.');
}
