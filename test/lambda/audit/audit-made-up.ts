import { type AuditResult, audit } from '../../../lambda/audit/audit';
import type { Stop } from '../../../lambda/stop';
import { TestKey } from './invoke-audit';
import { collectorVersion, type MadeUpArchive } from './made-up-archive';
import { plan } from './sealed-world';

/** Audits a made-up archive at its own time. Its seal goes into it. */
export function auditMadeUp(archive: MadeUpArchive, stop: Stop): Promise<AuditResult> {
  return audit(archive.now, {
    plan: { ...plan, clusters: archive.clusters.map((uid) => ({ uid })) },
    reader: archive,
    sink: { bucket: 'archive', put: async (object) => archive.seals.put(object, archive.now) },
    signer: new TestKey(),
    mail: async () => undefined,
    clock: { now: () => archive.now },
    stop,
    reporter: { sealed: () => undefined, notMailed: () => undefined },
    collectorVersion,
  });
}
