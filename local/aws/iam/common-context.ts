import type { RequestContext } from './authorize';

/** What the policies may ask about any call. */
export function commonContext(principalArn: string, accountId: string, region: string, now: number): RequestContext {
  return {
    'aws:PrincipalArn': principalArn,
    'aws:PrincipalAccount': principalArn.split(':')[4] ?? '',
    'aws:ResourceAccount': accountId,
    'aws:RequestedRegion': region,
    // Nothing leaves the machine, so there is no wire to protect: the same policies must admit the same calls here.
    'aws:SecureTransport': 'true',
    'aws:ViaAWSService': 'false',
    'aws:PrincipalIsAWSService': 'false',
    'aws:CurrentTime': new Date(now).toISOString(),
    'aws:EpochTime': String(Math.floor(now / 1000)),
  };
}
