import { UnsupportedTemplateError } from '../../local/deployment/stack-template';
import { AwsAccessError } from '../stack/aws-access';
import { atMost } from '../terminal/format';
import { type Check, notSeen, right, type Shown, wrong } from './check';

/** What is known of one thing, by name, each as text: two texts are equal if, and only if, they mean the same. */
export type Facts = Readonly<Record<string, string>>;

/** Something that protects the archive, as it was deployed and as it is. */
export interface Guard {
  /** The check that it belongs to. */
  readonly what: keyof typeof actions;
  /** The resource that it is of. */
  readonly of: string;
  /** @throws UnsupportedTemplateError */
  readonly deployed: () => Facts;
  /** @throws AwsAccessError */
  readonly live: () => Promise<Facts>;
}

const putBack = 'find out who changed it; then put it back, as docs/alarms.md, "Bringing back what was deployed", says';

/** What to do about a difference, by check. */
const actions = {
  'policies of buckets': putBack,
  // To bring back the deployed one deletes, where the live one keeps more.
  lifecycle:
    'decide how long things are kept before you change anything: S3 deletes by the rule that it finds at midnight. See docs/operations.md, "How long objects are kept"',
  versions: putBack,
  'Object Lock': putBack,
  replication: putBack,
  'public access': putBack,
  encryption: putBack,
  keys: putBack,
  roles: putBack,
} as const;

/** Compares what is with what was deployed. One check for each kind, in the order of {@link actions}. */
export async function compareGuards(guards: readonly Guard[]): Promise<Check[]> {
  const seen = await Promise.all(guards.map(async (guard) => ({ guard, ...(await compare(guard)) })));
  return Object.entries(actions).map(([what, act]): Check => {
    const own = seen.filter(({ guard }) => guard.what === what);
    const differences = own.flatMap(({ differences = [] }) => differences);
    const unseen = own.flatMap(({ unseen = [] }) => unseen);
    const of = own.map(({ guard }) => guard.of).join(', ');
    const well = own.length === 0 ? 'the stack has none of its own' : `as deployed: ${of}`;
    return { what, ...shown(differences, unseen, well, act) };
  });
}

/** Most lines of one check. */
const shownLines = 20;

/** What two lists show: what is wrong, and what could not be seen. @param well what is right if both are empty */
export function shown(differences: readonly string[], unseen: readonly string[], well: string, act: string): Shown {
  const lines = (all: readonly string[]) => atMost(shownLines, all, (more) => `and ${more} more`).join('\n');
  if (differences.length > 0) return wrong(lines([...differences, ...unseen.map((why) => `not seen: ${why}`)]), act);
  if (unseen.length > 0) return notSeen(lines(unseen), rightsNeeded);
  return right(well);
}

const rightsNeeded = 'use credentials with the rights that docs/pipeline.md, "Who deploys", names for doctor';

interface Compared {
  readonly differences?: readonly string[];
  readonly unseen?: readonly string[];
}

async function compare({ of, deployed, live }: Guard): Promise<Compared> {
  try {
    return { differences: differencesOf(of, deployed(), await live()) };
  } catch (error) {
    if (error instanceof AwsAccessError || error instanceof UnsupportedTemplateError)
      return { unseen: [`${of}: ${error.message}`] };
    throw error;
  }
}

/** @returns one line for each name whose facts differ */
export function differencesOf(of: string, deployed: Facts, live: Facts): string[] {
  const names = [...new Set([...Object.keys(deployed), ...Object.keys(live)])];
  const text = (facts: Facts, name: string) => facts[name] ?? 'nothing';
  return names
    .filter((name) => deployed[name] !== live[name])
    .map((name) => `${of}, ${name}: deployed ${text(deployed, name)}, found ${text(live, name)}`);
}
