import type { InvalidBodyError, NotDecodableError } from '../../lambda/body/body-check';
import { createManifestCheck } from '../../lambda/body/manifest';
import { verdictOf } from './body-verdict';

/** What becomes of a manifest: the content that is stored, or the error. */
export type ManifestVerdict = Buffer | InvalidBodyError | NotDecodableError;

/** Checks a manifest; whether there is a doubt about it is not asked. */
export function checkManifest(
  chunks: readonly Buffer[],
  mediaType: string | undefined = 'application/json',
  asReceived = false,
): ManifestVerdict {
  const verdict = verdictOf(createManifestCheck({ mediaType, asReceived }), chunks);
  if (verdict instanceof Error) return verdict;
  const { doubt, ...others } = verdict.facts;
  expect(others).toEqual({});
  return verdict.content;
}
