import { resolve } from 'node:path';
import * as z from 'zod';
import { clusterList, projectUid, uid } from '../../archive/format/cluster-schema';
import { type ConfigProblem, parsing, problemsOf } from '../../archive/format/schema-problems';
import { certificateFile, readJsonFile } from './config-files';
import { addressWithoutPath } from './config-rules';
import { baseUrl, keyArn, members, textLike, wholeNumber } from './schema-values';

/**
 * The members `service` and `clusters` of the configuration: what is asked, and of whom. Both may name a file, which is read
 * here.
 */

/** Each seal has all of them. */
const mostExcluded = 1000;

/** A list of clusters from outside. Its key has no character that IAM reads as a pattern. */
const outside = members({
  from: textLike(
    /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/[\w!.()/=+@:,&-]{1,900}$/,
    's3://bucket/key with a key of letters, digits and _!.()/=+@:,&-',
  ).describe('S3 object with the list of clusters, read when a run begins: changed without a deployment.'),
  kmsKeyArn: keyArn.describe('Customer key that encrypts this object.').optional(),
  leaveAfterDays: wholeNumber(1, 30)
    .default(3)
    .describe('Days for which a cluster that is not on the list any more is collected on, and is named as leaving.'),
  exclude: z
    .array(uid, 'a list of uids')
    .max(mostExcluded, `at most ${mostExcluded} uids`)
    .describe('Uids that are not collected, whatever the list says: with the next run, not after some days.')
    .optional(),
  maxAgeHours: wholeNumber(1, 87_600)
    .describe('Age above which the list counts as forgotten, and runs fail; left out: it may have any age.')
    .optional(),
});

/** Where a list of clusters from outside lies, and what it is judged by. */
export type OutsideList = z.output<typeof outside>;

/**
 * The list of clusters, or the file that holds it. The path of a problem in the file begins with the file's name.
 * @param folder that the file's name is relative to
 */
export function clusters(folder: string) {
  const named = members({
    file: z
      .string('the path of a JSON file')
      .min(1, 'the path of a JSON file')
      .describe('JSON file, relative to this file, that holds the list of clusters.'),
  }).transform(({ file }, context) => {
    const refuse = (found: ConfigProblem[], pathOf: (path: string) => string) => {
      const problems = found.map((problem) => ({ ...problem, path: pathOf(problem.path) }));
      context.addIssue({ code: 'custom', params: { problems } });
      return z.NEVER;
    };
    const path = resolve(folder, file);
    const read = readJsonFile(path, `a JSON file with a list of clusters at ${path}`);
    if ('problems' in read)
      return refuse(read.problems, (place) => (place === '' ? 'clusters.file' : `${file}, ${place}`));
    const { data, error } = clusterList.safeParse(read.value, parsing);
    return data ?? refuse(problemsOf(error), (path) => file + path);
  });
  return z
    .union([clusterList, named, outside])
    .describe('Clusters to collect: a list, or the file or the S3 object that holds it.');
}

/** @param folder that the name of the file of certificates is relative to */
export function service(folder: string) {
  return members({
    baseUrl: baseUrl.describe(
      'Address of the service without /v1: https, or http towards loopback only. No credentials, no query.',
    ),
    projectUid: z.optional(projectUid),
    collection: textLike(
      /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,200}$/,
      'one plain path segment: letters, digits, ".", "_", "~", "-"',
    )
      .default('platformclusters')
      .describe("Path segment of the service's cluster collection."),
    caCertificateFile: certificateFile(
      folder,
      'PEM file, relative to this file, with the only certificate authorities trusted for the service; left out: the public ones.',
    ).optional(),
  })
    .check(addressWithoutPath)
    .describe('The service that the collector reads.')
    .transform(({ caCertificateFile: caCertificate, ...others }) => ({ ...others, caCertificate }));
}
