import { InvalidBodyError, NotDecodableError } from '../../lambda/body/body-check';
import { createManifestCheck } from '../../lambda/body/manifest';

/** What becomes of a manifest: the content that is stored, or the error. */
export type ManifestVerdict = Buffer | InvalidBodyError | NotDecodableError;

/** Checks a manifest as the collector does it: chunks are used again once they are written. */
export function checkManifest(
  chunks: readonly Buffer[],
  mediaType: string | undefined = 'application/json',
  asReceived = false,
): ManifestVerdict {
  const check = createManifestCheck({ mediaType, asReceived });
  const content: Buffer[] = [];
  try {
    for (const chunk of chunks) {
      const reused = Buffer.from(chunk);
      content.push(Buffer.from(check.write(reused)));
      reused.fill(0x21);
    }
    expect(check.end()).toEqual({});
    return Buffer.concat(content);
  } catch (error) {
    if (error instanceof InvalidBodyError || error instanceof NotDecodableError) return error;
    throw error;
  }
}
