/** What a command's exit code says; `docs/reading-the-archive.md` documents them per command. */
export const exitCodes = {
  /** It was done, and nothing was found. */
  ok: 0,
  /** `diff` found a difference; any other command found damage. */
  found: 1,
  /** The command line is wrong. */
  usage: 2,
  /** It could not be done: the archive cannot be read, or what was asked for is not in it. */
  trouble: 3,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
