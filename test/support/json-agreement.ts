import fc from 'fast-check';
import { parsed, split, splits, woundedDocument } from './json-documents';
import { scanJson } from './scan-json';

/** Compares the scanner with JSON.parse on so many documents, half of them wounded; fast-check prints the seed on failure. */
export function expectAgreementWithJsonParse(documents: number): void {
  const verdicts = { accepted: 0, rejected: 0 };
  fc.assert(
    fc.property(woundedDocument, splits, (document, at) => {
      const isAccepted = parsed(document) !== undefined;
      verdicts[isAccepted ? 'accepted' : 'rejected']++;
      const whole = scanJson([document]);
      expect(whole === undefined).toBe(isAccepted);
      // Nor does it matter where the document is split: the verdict, its reason and its place stay the same.
      expect(scanJson(split(document, at))?.message).toBe(whole?.message);
    }),
    { numRuns: documents },
  );
  expect(Math.min(verdicts.accepted, verdicts.rejected)).toBeGreaterThan(documents / 10);
}
