import { readFile } from 'node:fs/promises';

const dayMs = 86_400_000;

/** How long the archive keeps objects, and who says so. */
export interface Retention {
  readonly days: number;
  readonly source: string;
}

/** A configuration is there that does not say what is asked of it. */
export class RetentionError extends Error {
  override readonly name = 'RetentionError';
}

/**
 * The retention a configuration names; undefined if there is no such file or it names none. Only this one member is
 * read: the rest of the file is for synth to judge.
 * @throws RetentionError if the file is no JSON or the member no whole number of days
 */
export async function configuredRetention(file: string): Promise<Retention | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new RetentionError(`Reading the retention from ${file} failed: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const days = daysIn(text, file);
  if (days === undefined) return undefined;
  if (typeof days !== 'number' || !Number.isInteger(days) || days < 1)
    throw new RetentionError(
      `Reading the retention from ${file} failed: archive.retentionDays is no whole number of days`,
    );
  return { days, source: file };
}

function daysIn(text: string, file: string): unknown {
  try {
    const config = JSON.parse(text) as { archive?: { retentionDays?: unknown } } | null;
    return config?.archive?.retentionDays;
  } catch (error) {
    throw new RetentionError(`Reading the retention from ${file} failed: it is not JSON`, { cause: error });
  }
}

/** Whether the lifecycle may have removed by now what was written at a time. */
export function isExpired(writtenAt: Date, retention: Retention | undefined, now: Date): boolean {
  return retention !== undefined && now.getTime() - writtenAt.getTime() >= retention.days * dayMs;
}
