/** What people type who know other tools, by what is the same here. Without it, the nearest name would be offered. */
const options: Readonly<Record<string, string>> = {
  '--tail': '--last COUNT, which takes the newest runs',
  '-n': '--last COUNT, which takes the newest runs; of lines, head and tail',
  '--lines': '--lines-from and --lines-to, or head and tail',
  '--until': '--to',
  '--format': '--json',
  '--output': '--json; report has --out',
  '-o': '--json; report has --out',
  '--no-color': 'the environment variable NO_COLOR=1',
  '--color': 'the environment variable FORCE_COLOR=1',
  '-v': '--version; verify says all that it finds',
  '-V': '--version',
  '--verbose': '--json, which has everything',
  '-A': '-C, which prints lines before and after',
  '-B': '-C, which prints lines before and after',
  '-f': 'log, once more: an archive grows from run to run',
  '--follow': 'log, once more: an archive grows from run to run',
  '--date': '--from and --to',
  '--bucket': '--archive s3://BUCKET',
};

const commands: Readonly<Record<string, string>> = {
  version: '--version',
  check: 'verify',
  fsck: 'verify',
  snapshots: 'runs',
  status: 'runs',
  cat: 'show',
  get: 'show',
  search: 'grep',
  changes: 'history',
};

/** What is said behind "too many arguments". */
const tooMany: Readonly<Record<string, string>> = {
  show: '--resource log names a resource, --run and --at a time',
  diff: '--from and --to name times, --run a run; one cluster is compared with itself',
  log: 'of several clusters: --all --seams, or a pattern with --seams',
  history: '--all "PATTERN" takes several clusters',
};

/** Puts what is meant into the place of what the parser of command lines guesses, and its own words into ours. */
export function withHabits(text: string): string {
  return text
    .replace(/^error: unknown (option|command) '([^']*)'(?:\n\(Did you mean [^)]*\))?/, (found, kind, name) => {
      const own = Object.hasOwn(kind === 'option' ? options : commands, name);
      const meant = kind === 'option' ? options[name] : commands[name];
      return own ? `error: unknown ${kind} '${name}'\n(Did you mean ${meant}?)` : found;
    })
    .replace(/^error: command-argument value '(.*)' is invalid for argument '([^']*)'\. /s, "error: '$1' is not a $2: ")
    .replace(/^(error: too many arguments for '([^']*)'\..*)$/m, (found, _, command: string) =>
      Object.hasOwn(tooMany, command) ? `${found}\n(${tooMany[command]})` : found,
    );
}
