import type { BodyFacts } from '../../archive/format/resources';
import { type BodyCheck, InvalidBodyError, NotDecodableError } from '../../lambda/collect/body/body-check';
import { LogRecordCheck } from '../../lambda/collect/body/log-record';
import { createManifestCheck } from '../../lambda/collect/body/manifest';

/** What becomes of a body that is accepted. */
export interface AcceptedBody {
  /** What is stored. */
  readonly content: Buffer;
  readonly facts: BodyFacts;
}

export type BodyVerdict = AcceptedBody | InvalidBodyError | NotDecodableError;

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
    if (error instanceof InvalidBodyError || error instanceof NotDecodableError) return error;
    throw error;
  }
}

export function verdictOnLog(chunks: readonly Buffer[], clusterUid: string, mediaType?: string): BodyVerdict {
  return verdictOf(new LogRecordCheck(clusterUid, mediaType), chunks);
}

/** The verdict on a manifest, requested again as received where it cannot be decoded. */
export function verdictOnManifest(chunks: readonly Buffer[], mediaType: string | undefined): BodyVerdict {
  const verdict = verdictOf(createManifestCheck({ mediaType }), chunks);
  if (!(verdict instanceof NotDecodableError)) return verdict;
  return verdictOf(createManifestCheck({ mediaType }, true), chunks);
}
