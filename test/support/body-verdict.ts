import { type BodyCheck, InvalidBodyError } from '../../lambda/body/body-check';
import { LogRecordCheck } from '../../lambda/body/log-record';
import { createManifestCheck } from '../../lambda/body/manifest';
import type { BodyFacts } from '../../lambda/resources';

/** What becomes of a body that is accepted. */
export interface AcceptedBody {
  /** What is stored. */
  readonly content: Buffer;
  readonly facts: BodyFacts;
}

export type BodyVerdict = AcceptedBody | InvalidBodyError;

/** Checks a body as the collector does: its chunks are used again once they are written. */
export function verdictOf(check: BodyCheck, chunks: readonly Buffer[]): BodyVerdict {
  const content: Buffer[] = [];
  try {
    for (const chunk of chunks) {
      const reused = Buffer.from(chunk);
      content.push(Buffer.from(check.write(reused)));
      reused.fill(0x21);
    }
    const facts = check.end();
    return { content: Buffer.concat(content), facts };
  } catch (error) {
    if (error instanceof InvalidBodyError) return error;
    throw error;
  }
}

export function verdictOnLog(chunks: readonly Buffer[], clusterUid: string): BodyVerdict {
  return verdictOf(new LogRecordCheck(clusterUid), chunks);
}

export function verdictOnManifest(chunks: readonly Buffer[], mediaType: string | undefined): BodyVerdict {
  return verdictOf(createManifestCheck(mediaType), chunks);
}
