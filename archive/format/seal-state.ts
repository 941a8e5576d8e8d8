import * as z from 'zod/mini';
import { countedSchema, none } from './counted';
import { findingKinds } from './finding';
import { resourceNames } from './resources';
import { count, time } from './run-record';

/**
 * The state of a seal: what the next audit goes on from, and what a mail of the seal says besides. It is stored before the
 * seal, which has its hash. Only that of the newest seal is needed.
 */
const positive = z.int().check(z.positive());

/**
 * Something that is to be judged: of the runs of a period the clusters from one on. What an audit has no time for stays, and
 * what is too much at once is divided.
 */
export const dueSchema = z.object({
  /**
   * `settled`: whether everything is there of runs of which nothing comes any more, and nothing else. `new`: the content of what
   * new run records archived. `listing` and `reading`: the same of all runs, again.
   */
  what: z.enum(['settled', 'new', 'listing', 'reading']),
  /** Since when it is due; of what goes through all runs, when it began. */
  since: time,
  /** Of what goes through all runs: nothing of it is left. The next time is due so many days after `since`. */
  isDone: z.optional(z.literal(true)),
  /** Times of runs, both included; null: without limit. */
  from: z.nullable(time),
  to: z.nullable(time),
  /** The first cluster, in the order of keys; null: all. */
  cluster: z.nullable(z.string()),
  /** Objects that are judged at once: less than usual if one audit had not time enough for them. */
  atOnce: count,
  /** Of what is new: number of a seal. It is what run records archived that this seal or a later one has. */
  seal: z.optional(positive),
});

const failingSchema = z.object({
  cluster: z.string(),
  /** The first run since it was archived last. */
  since: time,
  /** Runs since then that did not archive all of it. */
  runs: count,
  /** The last of these runs. */
  last: time,
  /** The last run that archived all of it; null: none that is known. */
  lastArchived: z.nullable(time),
  /** Whether people got a mail of an earlier seal that says so. */
  isMailed: z.optional(z.boolean()),
});

const openSchema = z.object({
  kind: z.enum(findingKinds),
  key: z.string(),
  problem: z.string(),
  /** Time of the audit that found it first. */
  since: time,
});

/** The runs with new records, and what changed: since the newest seal before that people got a mail of. */
const summarySchema = z.object({
  /** How many of these runs are complete. */
  complete: count,
  incomplete: count,
  /** The last run that has a record; null: there is none. */
  lastRun: z.nullable(time),
  /** What they archived, uncompressed and stored. */
  objects: count,
  bytes: count,
  storedBytes: count,
  /** Objects that audits read and compared, how many of them again, and how long they are, uncompressed. */
  read: z.object({ objects: count, old: count, bytes: count }),
  /** Clusters with another manifest than in the run before, with the last two such runs. */
  changed: countedSchema(z.object({ cluster: z.string(), from: time, to: time })),
  /** Clusters with something that had not half, or more than twice, its usual length in bytes: the last of it, and its run. */
  unusual: z._default(
    countedSchema(
      z.object({ cluster: z.string(), resource: z.enum(resourceNames), run: time, bytes: count, usual: count }),
    ),
    none,
  ),
  /** Clusters that were to be collected and are in no record of a run, those of most runs first. */
  notCollected: countedSchema(z.object({ cluster: z.string(), runs: count })),
  /** Firings of the schedule that left no record; and what was found of what is absent. */
  absent: countedSchema(z.object({ key: z.string(), problem: z.string() })),
  /** Of a list from outside; left out: the clusters are deployed. */
  clusters: z.optional(
    z.object({
      /** Runs that read a list. */
      runs: count,
      joined: countedSchema(z.string()),
      left: countedSchema(z.string()),
      /** Who was not on it in all of the runs, and in how many. */
      away: countedSchema(z.object({ cluster: z.string(), listed: count })),
      /** Who became optional, or is so for longer, or lost a resource. */
      lessened: countedSchema(z.string()),
      /** Times of runs that followed nothing, although there were runs before. */
      anew: countedSchema(time),
    }),
  ),
  /** Time of the first of the seals, one behind the other, whose plan has the schedule switched off; left out: it is on. */
  pausedSince: z.optional(time),
  /** What was archived with a doubt. */
  doubts: countedSchema(z.string()),
  /** What was open in the seal before and is so no more. */
  repaired: countedSchema(z.string()),
  /** Why clusters fail, the most frequent reason first. */
  reasons: z.array(z.object({ reason: z.string(), count, clusters: z.array(z.string()) })),
});

/** How the new logs follow those before them of their clusters. */
const logsSchema = z.object({
  /** Where lines may be lost, since the last audit that mailed it: between the logs of which two runs. */
  gaps: countedSchema(z.object({ cluster: z.string(), from: time, to: time })),
  /**
   * Logs with nothing new since a run, up to the last run that has one, the longest first. `isEmpty`: it had lines before that
   * run, and has none since. `isMailed`: by an earlier seal.
   */
  frozen: z.array(
    z.object({ cluster: z.string(), since: time, last: time, isEmpty: z.boolean(), isMailed: z.boolean() }),
  ),
  /** Clusters whose last logs share nothing with those before, and how many in a row. */
  onlyGaps: z.array(z.object({ cluster: z.string(), gaps: count, isMailed: z.boolean() })),
  /** Whether people get a mail of this seal. */
  isMailed: z.boolean(),
});

export const stateSchema = z.object({
  /** The first of what this audit found; the seal counts all of it. */
  findings: z.array(z.object({ kind: z.enum(findingKinds), key: z.string(), problem: z.string() })),
  /** What is damaged or could not be read, by this audit or one before it, and does not count as repaired; what was checked longest ago first. What does not fit is counted until all was read again. */
  open: countedSchema(openSchema),
  summary: summarySchema,
  logs: logsSchema,
  /**
   * Of clusters of the plan, the last lengths of what seldom changes. A line of text for each, as there may be 50,000: the run
   * of the newest in seconds since 1970, up to ten lengths in bytes, the newest first, and resource/cluster.
   */
  habits: z._default(z.array(z.string()), []),
  /** Clusters that the last run did not archive whole; optional ones are left out. */
  failing: z.array(failingSchema),
  /** What is to be judged. */
  todo: z.array(dueSchema),
});

export type SealState = z.infer<typeof stateSchema>;
export type Due = z.infer<typeof dueSchema>;
export type Failing = z.infer<typeof failingSchema>;
export type OpenFinding = z.infer<typeof openSchema>;
export type LogsState = z.infer<typeof logsSchema>;
export type Summary = z.infer<typeof summarySchema>;

/** Largest file of a state that is read or written, in bytes. */
export const largestStateBytes = 64 * 1024 * 1024;

/** What an archive without a seal goes on from. */
export const emptyState: SealState = {
  findings: [],
  open: none,
  summary: {
    complete: 0,
    incomplete: 0,
    lastRun: null,
    objects: 0,
    bytes: 0,
    storedBytes: 0,
    read: { objects: 0, old: 0, bytes: 0 },
    ...{ changed: none, unusual: none, doubts: none, repaired: none, notCollected: none, absent: none },
    reasons: [],
  },
  logs: { gaps: none, frozen: [], onlyGaps: [], isMailed: false },
  habits: [],
  failing: [],
  todo: [],
};
