import { createHash, X509Certificate } from 'node:crypto';
import type { PlannedAuthority } from '../../lambda/stack-contract';
import { requestStamp } from '../../lambda/stamps/request-stamp';
import { type Check, ok, warning } from './check';

/** Asks each authority for a stamp of nothing, as the audit asks it for stamps of seals. Nothing is stored. */
export function stampChecks(authorities: readonly PlannedAuthority[]): Promise<Check[]> {
  const ask = async ({ name, url, root }: PlannedAuthority): Promise<Check> => {
    const what = `time stamps of ${name}`;
    const authority = { name, url, root: new X509Certificate(Buffer.from(root, 'base64')) };
    try {
      const { time } = await requestStamp(authority, createHash('sha256').digest());
      return { what, ...ok(`${url} stamped at ${time.toISOString()}`) };
    } catch (error) {
      const act =
        'check its url and caCertificateFile, and the way out of this network; the audit may be in another one';
      return { what, ...warning((error as Error).message, act) };
    }
  };
  return Promise.all(authorities.map(ask));
}
