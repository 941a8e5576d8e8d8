import type { Command } from 'commander';

/** What people type who know other tools, and what does it here. Without it, the nearest name would be offered. */
const options: Readonly<Record<string, string>> = {
  '--tail': '--last COUNT, which takes the newest runs',
  '-n': '--last COUNT, which takes the newest runs; for lines, head and tail',
  '--lines': '--lines-from and --lines-to; for lines by number, head and tail',
  '--grep': 'the command grep',
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
  '-f': 'the same command again, later: an archive grows from run to run',
  '--follow': 'the same command again, later: an archive grows from run to run',
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
  runs: '--from and --to bound a period, --cluster names clusters',
  list: '--cluster names clusters, --run a run',
  grep: '--cluster names clusters, --archive a folder or a bucket',
  verify: '--archive names a folder or a bucket, --cluster a cluster',
  export: '--cluster names the cluster, --out the new folder',
  report: '--out names the file, --cluster clusters',
  run: '--run completes the run of a time, --clusters chooses some',
  show: '--resource log names a resource, --run and --at a time',
  diff: '--from and --to name times, --run a run; one cluster is compared with itself',
  log: 'of several clusters: --all --seams, or a pattern with --seams',
  history: '--all "PATTERN" takes several clusters',
};

/** Puts what is meant into the place of what the parser of command lines guesses, and its own words into ours. */
export function usageError(text: string): string {
  return text
    .replace(/^error: unknown (option|command) '([^']*)'(?:\n\(Did you mean [^)]*\))?/, (found, kind, name) => {
      const own = Object.hasOwn(kind === 'option' ? options : commands, name);
      const meant = kind === 'option' ? options[name] : commands[name];
      return own ? `error: unknown ${kind} '${name}'\n(Did you mean ${meant}?)` : found;
    })
    .replace(/^error: command-argument value '(.*)' is invalid for argument '([^']*)'\. /s, "error: '$1' is not a $2: ")
    .replace(
      /^error: option '([^']*)' argument '(.*)' is invalid\. /s,
      (_, flags: string, value: string) => `error: ${/--[\w-]+/.exec(flags)?.[0] ?? flags} ${value}: `,
    )
    .replace(/(?<=^error: .*)Allowed choices are (.*)\.$/m, 'expected one of $1.')
    .replace(/^(error: too many arguments for '([^']*)'\..*)$/m, (found, _, command: string) =>
      Object.hasOwn(tooMany, command) ? `${found}\n(${tooMany[command]})` : found,
    );
}

/**
 * What is wrong with a command line before it is parsed: the parser would take an option for the value of the one before it, or
 * look for the options of a command where there is none.
 * @returns undefined: nothing is
 */
export function earlyProblem(program: Command, args: readonly string[]): string | undefined {
  const [name = '', ...others] = args;
  const known = (text: string | undefined) => program.commands.find((command) => command.name() === text);
  if (name === 'help' && others[0] !== undefined && known(others[0]) === undefined)
    return `error: unknown command '${others[0]}'`;
  const isOwn = ['--help', '-h', '--version'].includes(name) || /^-[vV]$/.test(name);
  const behind = others.find((arg) => known(arg) !== undefined) ?? 'runs';
  if (name.startsWith('-') && !isOwn)
    return `error: ${name} before the command; options come behind it, such as: ${behind} ${name}`;
  return withoutValue(known(name), others);
}

/** An option that needs a value, and is followed by another option of its command. */
function withoutValue(command: Command | undefined, args: readonly string[]): string | undefined {
  const options = command?.options ?? [];
  const ofFlag = (arg: string | undefined) => options.find(({ long, short }) => arg === long || arg === short);
  const at = args.findIndex((arg, index) => ofFlag(arg)?.required === true && ofFlag(args[index + 1]) !== undefined);
  if (at < 0 || args.slice(0, at).includes('--')) return undefined;
  return `error: ${args[at]} without its value; it is followed by ${args[at + 1]}`;
}
