import type { ResourceRequest } from '../service/resource-request';
import type { ServiceError } from '../service/service-error';

/** In which order tasks are asked for: lower ranks first, and within a rank the one that came first. */
export const ranks = {
  /** Again at once: with a new key, or to keep a body as received. */
  again: 0,
  /** Never attempted in this run. */
  unattempted: 1,
  /** Failed in an earlier attempt. */
  failedEarlier: 2,
  /** Not asked for yet, but its cluster's other resource has just failed without an answer. */
  doubtful: 3,
  retry: 4,
  /** Timed out before. */
  slow: 5,
} as const;

export type Rank = (typeof ranks)[keyof typeof ranks];

/** What is known of one cluster in this attempt. The dispatcher alone writes it. */
export class Cluster {
  readonly tasks: Task[] = [];
  /** Whether any of its resources was asked for. */
  isAsked = false;
  /** Whether its last request ended without an answer or with a server error (5xx). */
  isUnanswered = false;
  /** Its resources are not asked for before this time, because the service said so (Retry-After). */
  pausedUntilMs = 0;

  constructor(readonly uid: string) {}
}

/**
 * One cluster x resource that is to be archived, and what is known of it in this attempt. The dispatcher alone writes it. Whether
 * it waits, and for what, is the queue's.
 */
export class Task {
  isDone = false;
  /** Earliest time of the next request, where the service itself asked for the delay: probes keep to it too. */
  retryAfterMs = 0;
  /** Requests made, all of them. */
  requests = 0;
  /** Requests that count against the most that are allowed. Probes and rejections of an old key do not. */
  counted = 0;
  /** Rejections after which the secret had another key. */
  keyChanges = 0;
  /** Whether a request timed out: the next one comes last, and may take its full time limit. */
  isSlow = false;
  /** When the first request began; undefined: not asked for yet. */
  startedMs: number | undefined;
  /** Whether the body is kept as received, because it could not be decoded as its media type promised. */
  asReceived = false;
  /** Whether no content coding is accepted any more, because one was damaged or unknown. */
  uncoded = false;
  /** Whether it gets a connection of its own, because an answer over a used one may have been another request's. */
  alone = false;
  /** The last failure. */
  last: ServiceError | undefined;

  /** @param index place in the list */
  constructor(
    readonly request: ResourceRequest,
    readonly cluster: Cluster,
    readonly index: number,
  ) {}
}

/** The tasks for the requests of a run, in their order, with what they share. */
export function planTasks(requests: readonly ResourceRequest[]): { tasks: Task[]; clusters: Cluster[] } {
  const clusters = new Map<string, Cluster>();
  const tasks = requests.map((request, index) => {
    const cluster = clusters.get(request.cluster) ?? new Cluster(request.cluster);
    clusters.set(request.cluster, cluster);
    const task = new Task(request, cluster, index);
    cluster.tasks.push(task);
    return task;
  });
  return { tasks, clusters: [...clusters.values()] };
}
