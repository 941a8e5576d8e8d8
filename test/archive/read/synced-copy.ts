import { join } from 'node:path';
import { type LocalAws, startLocalAws } from '../../../local/aws/local-aws';
import { ArchiveFixture, hour, logRecord } from '../../cli/archive-fixture';
import { runCollector } from '../../cli/run-collector';
import { longAfter } from '../../cli/run-verify';
import { SealFixture } from '../../cli/seal-fixture';
import { admin, everythingPolicy, region } from '../../local/aws/endpoint-setup';
import { newFolder } from '../../support/new-folder';

export const clusters = ['alpha', 'beta/1 x'];

/** A sealed archive of two clusters and three runs. The manifest of one changes, and one run has a second attempt. */
export async function archiveToSync(): Promise<ArchiveFixture> {
  const archive = await ArchiveFixture.create();
  for (const at of [8, 9, 10])
    await archive.attempt({
      run: hour(at),
      clusters,
      answer: (cluster, resource) => ({
        content: resource === 'log' ? logRecord(cluster, `lines\nof ${at}\n`) : `of: ${at > 9} # ${cluster}\n`,
      }),
    });
  const answer = () => ({ alreadyArchived: 'without hash' }) as const;
  await archive.attempt({ run: hour(10), attempt: 2, clusters, answer, trigger: 'manual' });
  await new SealFixture(archive).seal({ at: hour(11) });
  return archive;
}

/** The archive as a bucket. */
export async function inBucket(archive: ArchiveFixture): Promise<LocalAws> {
  return startLocalAws({
    region,
    principals: [{ ...admin, arn: 'arn:aws:iam::111122223333:role/admin', policies: [everythingPolicy] }],
    buckets: [{ name: 'archive', folder: archive.folder }],
    secrets: [],
  });
}

interface Printed {
  readonly code: number;
  readonly out: string;
}

/** What every command that reads an archive prints of it, by command line. */
export async function printedOf(folder: string): Promise<Record<string, Printed>> {
  const lines = [
    ['runs'],
    ['runs', hour(10).toISOString()],
    ['list', '--json'],
    ['list', '--by', 'day'],
    ['history', 'alpha'],
    ['history', '--all'],
    ['diff', 'alpha'],
    ['show', 'alpha'],
    ['show', 'alpha', '--resource', 'log', '--raw'],
    ['show', clusters[1] ?? ''],
    ['log', 'alpha', '--from', '2026-11-20'],
    ['grep', 'of 9', '--from', '2026-11-20'],
    ['grep', 'of 9', '--snapshots', '--from', '2026-11-20'],
    ['verify', '--seals'],
    ['verify', '--json'],
    ['export', '--cluster', 'alpha', '--from', '2026-11-20', '--out', join(newFolder(), 'part')],
  ];
  const printed: Record<string, Printed> = {};
  for (const line of lines) {
    const { code, out } = await runCollector([...line, '--archive', folder], { now: longAfter });
    const text = out.replaceAll(folder, 'ARCHIVE').replace(/\S*\/part/g, 'PART');
    printed[line.filter((word) => !word.includes('/part')).join(' ')] = { code, out: text };
  }
  return printed;
}
