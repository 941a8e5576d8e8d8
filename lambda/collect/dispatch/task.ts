import { createHash } from 'node:crypto';
import type { ResourceRequest } from '../service/resource-request';
import type { ServiceError } from '../service/service-error';

/** One cluster x resource that is to be archived, and what is known of it in this attempt. */
export interface Task {
  /** Place in the list of the run. */
  readonly index: number;
  /** What is asked for next: as configured, with what answers have taught. */
  request: ResourceRequest;
  /** Requests made, all of them. */
  requests: number;
  /** Requests that count against the most that are allowed: probes do not. */
  counted: number;
  /** Whether a request timed out: the next one comes last, and may take its full time limit. */
  isSlow: boolean;
  /** When the first request began; undefined: not asked for yet. */
  startedMs?: number;
  /** The last failure. */
  last?: ServiceError | undefined;
}

/** In which order tasks are asked for: lower ranks first, and within a rank the one that came first. */
export const ranks = {
  /** Not asked for yet in this attempt. */
  first: 0,
  retry: 1,
  /** Of clusters that joined the list from outside within a day. */
  joined: 2,
  /** Timed out before. */
  slow: 3,
  /** Of clusters that are leaving, whatever became of them before. */
  leaving: 4,
} as const;

export type Rank = (typeof ranks)[keyof typeof ranks];

/**
 * The tasks for the requests of a run, in the order in which they are asked for: the clusters are shuffled, so that any ten in
 * a row are a sample of the fleet, and so are the resources of each. What is true of a sample is true of the service or of
 * the key, and not of a few neighbours in the list.
 * @param seed another one for each run: no cluster is always the last
 */
export function shuffledTasks(requests: readonly ResourceRequest[], seed: string): Task[] {
  const hash = (...parts: string[]) =>
    createHash('sha256')
      .update([seed, ...parts].join('\n'))
      .digest('base64');
  return requests
    .map((request, index) => {
      const { cluster, resource } = request;
      const task: Task = { index, request, requests: 0, counted: 0, isSlow: false };
      return { place: hash(cluster) + hash(cluster, resource), task };
    })
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ task }) => task);
}
