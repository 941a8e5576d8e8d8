import * as z from 'zod/mini';
import { clusterList, members } from '../../../archive/format/cluster-schema';
import type { WrittenList } from '../../../archive/format/next-list';
import { parsing, problemLines, problemsOf } from '../../../archive/format/schema-problems';

/** Largest list that is read, in bytes. */
export const largestListBytes = 64 * 1024 * 1024;

const form = 'a list of clusters, or { "clusters": […], "leaving": "…" }';

const withConsent = members(
  {
    clusters: clusterList,
    leaving: z.optional(
      z
        .string('a SHA-256')
        .check(z.regex(/^[0-9a-f]{64}$/, 'the SHA-256 of the clusters that leave, as the failure of the run names it')),
    ),
  },
  form,
);

const listSchema = z.union([
  z.pipe(
    clusterList,
    z.transform((clusters): WrittenList => ({ clusters })),
  ),
  withConsent,
]);

/** A list of clusters from outside, or everything that is wrong with it, by path. */
export function readList(bytes: Buffer): { readonly list: WrittenList } | { readonly problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    return { problem: `it is not JSON in UTF-8: ${(error as Error).message}` };
  }
  const { data, error } = listSchema.safeParse(json, parsing);
  if (data !== undefined) return { list: data };
  return { problem: ['it is not valid:', ...problemLines(problemsOf(error))].join('\n  ') };
}

/** Bucket and key of `s3://bucket/key`. */
export function parseListAddress(from: string): { readonly bucket: string; readonly key: string } {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/s.exec(from) ?? [];
  return { bucket, key };
}

/** Why a list may not lie in the archive's bucket, and what to do. */
export const inArchive =
  "it lies in the archive's bucket, where nothing is ever overwritten; put it into another bucket, and name that in clusters.from";
