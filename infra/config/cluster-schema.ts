import * as z from 'zod';
import { resourceNames } from '../../lambda/resources';
import type { ConfiguredCluster } from '../../lambda/stack-contract';
import { members, trueOrFalse } from './schema-values';

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

export const projectUid = z
  .string('the uid of a project')
  .regex(
    /^[!-~](?:[ -~]{0,1022}[!-~])?$/,
    'printable ASCII without a space at either end, because it is sent in a header',
  )
  .describe('Header ProjectUid: limits the requests to this project.');

const requestId = z
  .string('a request identifier')
  .regex(/^.{1,1024}$/su, '1 to 1024 characters')
  .refine((text) => !loneSurrogate.test(text), 'text without lone surrogates')
  .describe('Query parameter requestId of the log call.');

/** One entry of the list of clusters: a uid, or an object if the cluster differs from the others. */
export const cluster = z.union([
  uid.transform((text): ConfiguredCluster => ({ uid: text })),
  members({
    uid,
    projectUid: projectUid.describe("Header ProjectUid for this cluster; wins over the service's.").optional(),
    requestId: requestId.optional(),
    resources: z
      .array(z.enum(resourceNames, `one of ${resourceNames.join(', ')}`))
      .min(1, 'at least one resource')
      .refine((names) => new Set(names).size === names.length, 'each resource once')
      .describe('Resources to collect of this cluster; left out: both.')
      .optional(),
    optional: trueOrFalse()
      .describe('true: a run is complete without this cluster. It is still attempted, recorded and shown.')
      .optional(),
  }),
]);
