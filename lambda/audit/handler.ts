import type { Context } from 'aws-lambda';
import type { AuditResult } from './audit';
import { parseAuditEvent } from './event';
import { wireAudit } from './wire-audit';

const audit = wireAudit(process.env, __dirname);

/** What Lambda calls: seals what was archived since the last seal. It fails if the seal cannot be signed and stored. */
export async function handler(event: unknown, context: Context): Promise<AuditResult> {
  return audit(parseAuditEvent(event, new Date()), context);
}
