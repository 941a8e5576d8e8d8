import { resolve } from 'node:path';
import * as z from 'zod';
import { resourceNames } from '../../lambda/resources';
import type { ConfiguredCluster } from '../../lambda/stack-contract';
import { readCertificates, readJsonFile } from './config-files';
import { parsing, problemsOf, refuseWith } from './config-problems';
import { addressWithoutPath, uniqueClusters } from './config-rules';
import { baseUrl, members, textLike, trueOrFalse } from './schema-values';

/**
 * The members `service` and `clusters` of the configuration: what is asked, and of whom. Both may name a file, which is read
 * here.
 */

const loneSurrogate = /\p{Surrogate}/u;
const longestUid = 200;

const uid = z
  .string('the uid of a cluster')
  .min(1, 'a uid that is not empty')
  .refine((text) => text.trim() === text, 'a uid without a blank at either end')
  .refine((text) => text !== '.' && text !== '..', 'a uid other than "." and "..", which a path cannot hold')
  .refine((text) => !loneSurrogate.test(text), 'a uid without lone surrogates, which a path cannot hold')
  .refine((text) => Buffer.byteLength(text) <= longestUid, `a uid of at most ${longestUid} bytes of UTF-8`)
  .describe('Uid of the cluster, as the service knows it.');

const projectUid = textLike(
  /^[!-~](?:[ -~]{0,1022}[!-~])?$/,
  'printable ASCII without a space at either end, because it is sent in a header',
).describe('Header ProjectUid: limits the requests to this project.');

const requestId = z
  .string('a request identifier')
  .regex(/^.{1,1024}$/su, '1 to 1024 characters')
  .refine((text) => !loneSurrogate.test(text), 'text without lone surrogates')
  .describe('Query parameter requestId of the log call.');

/** A uid, or an object if the cluster differs from the others. */
const cluster = z.union([
  uid.transform((text): ConfiguredCluster => ({ uid: text, resources: [...resourceNames] })),
  members({
    uid,
    projectUid: projectUid.describe("Header ProjectUid for this cluster; wins over the service's.").optional(),
    requestId: requestId.optional(),
    resources: z
      .array(z.enum(resourceNames, `one of ${resourceNames.join(', ')}`), 'a list of resources')
      .min(1, 'at least one resource')
      .refine((names) => new Set(names).size === names.length, 'each resource once')
      .describe('Resources to collect of this cluster; left out: all. What is stored names them.')
      // Written out: what a later version collects by default does not change what an archive meant.
      .default([...resourceNames]),
    optional: trueOrFalse()
      .describe('true: a run is complete without this cluster. It is still attempted, recorded and shown.')
      .optional(),
  }),
]);

const clusterList = z
  .array(cluster, 'a list of clusters')
  .min(1, 'at least one cluster')
  .check(uniqueClusters)
  .describe('Clusters to collect: uids, or objects for clusters that differ. 50,000 and more fit.');

/**
 * The list of clusters, or the file that holds it. The path of a problem in the file begins with the file's name.
 * @param folder that the file's name is relative to
 */
export function clusters(folder: string) {
  const named = members(
    {
      file: z
        .string('the path of a JSON file')
        .min(1, 'the path of a JSON file')
        .describe('JSON file, relative to this file, that holds the list of clusters.'),
    },
    '{ "file": … }',
  ).transform(({ file }, context) => {
    const read = readJsonFile(resolve(folder, file), 'a JSON file with a list of clusters');
    if ('problems' in read)
      return refuseWith(context, read.problems, (path) => (path === '' ? 'clusters.file' : `${file}, ${path}`));
    const { data, error } = clusterList.safeParse(read.value, parsing);
    return data ?? refuseWith(context, problemsOf(error), (path) => file + path);
  });
  return z.union([clusterList, named]).describe('Clusters to collect: a list, or the file that holds it.');
}

/** @param folder that the name of the file of certificates is relative to */
export function service(folder: string) {
  return members({
    baseUrl: baseUrl.describe(
      'Address of the service without /v1: https, or http towards loopback only. No credentials, no query.',
    ),
    projectUid: projectUid.optional(),
    collection: textLike(
      /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,200}$/,
      'one plain path segment: letters, digits, ".", "_", "~", "-"',
    )
      .default('platformclusters')
      .describe("Path segment of the service's cluster collection."),
    caCertificateFile: z
      .string('the path of a PEM file')
      .min(1, 'the path of a PEM file')
      .describe(
        'PEM file, relative to this file, with the only certificate authorities trusted for the service; left out: the public ones.',
      )
      .transform((file, context) => {
        const read = readCertificates(resolve(folder, file), new Date());
        if ('pem' in read) return read.pem;
        const received = `a file that cannot be used (${read.fault})`;
        const expected = 'a PEM file with certificates that have not expired';
        return refuseWith(context, [{ path: 'service.caCertificateFile', received, expected }]);
      })
      .optional(),
  })
    .check(addressWithoutPath)
    .describe('The service that the collector reads.')
    .transform(({ caCertificateFile: caCertificate, ...others }) => ({ ...others, caCertificate }));
}
