/**
 * What findings say, a sentence for each fact. What is wrong inside of one kind of file stands where that file is parsed.
 * `lines may be lost` and the like are about logs, not findings.
 */
export const problems = {
  /** Of any object. */
  notThere: 'it is not there',
  gone: 'its run archived it, and it is not there',
  goneSinceListed: 'it was listed, and is no longer there',
  unread: (reason: string) => `it cannot be read: ${reason}`,
  stray: 'not a key that this archive uses',
  outside: 'it lies outside what the collector writes',
  inFuture: 'its time is in the future, and nothing can have been archived then',

  /** Of an object beside its metadata and its run record. */
  badMetadata: 'its metadata is absent or malformed',
  otherLog: 'its log is not the one that its metadata says',
  otherThanRecord: (names: readonly string[]) =>
    `its run record says another ${names.join(', ')} than the object itself`,
  otherContent: 'its content is not the one that its run record says',
  otherBareContent: 'its run record says another log, or another stored length, than the object itself',
  withoutHash: 'no run record has its hash',
  recordExpired: 'its run record has expired',

  /** Of an object that no run record names. */
  unrecorded: 'no run record says that it was archived',
  asItsMetadata: 'it is what its own metadata says',
  justWritten: 'no run record has it yet; it was written a short time ago',
  leftByKilledAttempt: 'a killed attempt wrote it and left no record; complete the run',

  /** Of what only a record says that is not as it was sealed. */
  unvouched: (record: string) => `not vouched for by what is sealed, only by ${record}`,
  unvouchedSince: (record: string) => `not vouched for any more: ${record}, which is sealed, is gone or unreadable`,

  /** Of a run record, and of what it lacks. */
  finishedAfterWritten: 'it says that it finished later than it was written',
  missingAttempt: (first: number, last: number) =>
    `the run has records of later attempts, but not this one${last > first ? ` and those up to attempt ${last}` : ''}`,
  missingConfiguration: 'run records name this configuration, and it is not there',

  /** Of a run record whose clusters come from a list outside. */
  goneTooEarly: (count: number, names: string) =>
    `${clusters(count)} left the list before runs had named ${count === 1 ? 'it' : 'them'} as leaving for long enough: ${names}`,
  badLeaving: (count: number, names: string) => `${clusters(count)} cannot have been leaving as it says: ${names}`,
  followsNoRecord: 'it says that its list came after something that is not a run record',
  followsOther: (record: string) => `it says that its list came after another configuration than ${record} names`,
  followsItself: 'the records that its list came after came after it',
  completesNothing: 'it has other clusters than the run that it completes',
  followedIsGone: 'a run record says that its list came after it, and it is not there',

  unreadSchedule: (reason: string) => `its schedule cannot be read, and which runs were due was not seen: ${reason}`,
  uncovered: (time: string, count: number, configured: number, first: readonly string[]) =>
    `no record of the scheduled run of ${time} covers ${count} of its ${configured} clusters: ${first.join(', ')}${count > first.length ? ', …' : ''}`,

  /** Of what a seal has. */
  replacedFile: (seal: number) => `its SHA-256 is not the one in seal ${seal}: it was replaced after that`,
  replacedContent: (seal: number) => `its content is not what seal ${seal} says: it was replaced after that`,
  goneSinceSealed: (seal: number) => `seal ${seal} has it, and it is not there`,
  notSealed: 'it was there when the newest seal was made, and no seal has it',
  listedBeforeSeal: (listedFrom: string, before: number) =>
    `it says that it began to list at ${listedFrom}, before seal ${before} did: nothing it says of its time counts`,
  listedFarAway: (seal: string, listedFrom: string) =>
    `it is of ${seal} and says that it began to list at ${listedFrom}: more than 5 minutes before, or a day after`,
  sealInFuture: 'its time is in the future',
  sealAfterStamp: 'its time is later than a time stamp that it, or a later seal, has',
  stampOfNothing: 'it stamps a seal that is not right, or not there',
  stampsNotRead: (count: number) =>
    `${count === 1 ? '1 more time stamp that no seal names was' : `${count} more time stamps that no seal names were`} not judged: one audit judges 1,000. Remove those that nobody asked for`,
  notSealedInPart: 'no right seal has it, and a part has only what is sealed: somebody added it, or took its seal away',

  /** Of what was due. */
  absentRun: (time: string) => `the scheduled run of ${time} is missing`,
  absentRuns: (count: string, first: string, last: string) =>
    `${count} scheduled runs from ${first} to ${last} are missing`,
  absentRunsSince: (count: string, first: string) => `${count} scheduled runs since ${first} are missing`,
  notJudged:
    'a schedule there is disabled, or a configuration cannot be read, so nobody can tell which runs are absent',
  absentSeals: (which: string) => `${which}: never made, or removed`,
} as const;

function clusters(count: number): string {
  return count === 1 ? '1 cluster' : `${count} clusters`;
}
