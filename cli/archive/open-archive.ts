import { stat } from 'node:fs/promises';
import { runsPrefix, sealsPrefix } from '../../archive/format/keys';
import { ArchiveReadError, type ArchiveReader, FolderArchiveReader, firstOf, openBucket } from '../../archive/read';
import { formatTime, shellQuoted } from '../terminal/format';
import type { Terminal } from '../terminal/terminal';

/** Where `npm start` puts the archive. */
export const defaultArchive = 'local-archive';

/** The option that names an archive in a command that a person may paste; empty for the default. */
export function archiveArgument(location: string): string {
  return location === defaultArchive ? '' : ` --archive ${shellQuoted(location)}`;
}

/**
 * The command that completes a run of this archive; undefined for a folder that may be a copy of another archive. For a
 * bucket, the command finds the stack by the configuration.
 */
export function completeCommand(location: string, run: Date): string | undefined {
  if (location.startsWith('s3://')) return `npm run collector -- run --run ${formatTime(run)}`;
  return location === defaultArchive ? `npm start -- --run ${formatTime(run)}` : undefined;
}

/**
 * The archive a location names: `s3://bucket`, or a folder.
 * @throws ArchiveReadError if it names no bucket, or a folder that is not there
 */
export async function openArchive(location: string): Promise<ArchiveReader> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(location)) {
    const bucket = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?$/.exec(location)?.[1];
    if (bucket === undefined)
      throw new ArchiveReadError(
        `Opening the archive ${location} failed: expected a folder or s3://bucket, the bucket's name alone: lower-case letters, digits, dots and hyphens`,
      );
    return openBucket(bucket);
  }
  const folder = await stat(location).catch(() => undefined);
  if (folder?.isDirectory() !== true) {
    const named = /^s3:\/*(.+)$/i.exec(location)?.[1] ?? location;
    const bucket = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(named) ? `, s3://${named} a bucket of this name` : '';
    throw new ArchiveReadError(
      `Opening the archive ${location} failed: the folder does not exist; npm start makes one, --archive names another${bucket}`,
    );
  }
  return new FolderArchiveReader(location);
}

/** An archive, and the time. */
export interface OpenedArchive {
  readonly archive: ArchiveReader;
  /** By the archive's own clock. A folder has none: there this machine's counts. */
  readonly now: Date;
  /** Whether it has a clock: it is a bucket, where runs are due. */
  readonly isLive: boolean;
}

export async function withTime(archive: ArchiveReader, { now }: Pick<Terminal, 'now'>): Promise<OpenedArchive> {
  const clock = await archive.time();
  return { archive, now: clock ?? now(), isLive: clock !== undefined };
}

/**
 * Opens what a location names.
 * @throws ArchiveReadError too if that is not an archive: it has neither run records nor seals
 */
export async function openArchiveNow(location: string, terminal: Pick<Terminal, 'now'>): Promise<OpenedArchive> {
  const archive = await openArchive(location);
  for (const prefix of [runsPrefix, sealsPrefix])
    if ((await firstOf(archive.list(prefix))) !== undefined) return withTime(archive, terminal);
  throw new ArchiveReadError(`Reading ${location} failed: it holds no archive: ${runsPrefix} is missing`);
}
