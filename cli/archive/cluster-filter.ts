import { RE2JS } from 're2js';

/** Which clusters a command is about. */
export interface ClusterFilter {
  /** As it was given. */
  readonly glob: string;
  /** The only cluster, if the filter names one. */
  readonly uid: string | undefined;
  readonly matches: (uid: string) => boolean;
}

/** A uid, or a pattern in which `*` stands for any characters and `?` for one. No pattern takes long. */
export function clusterFilter(glob: string): ClusterFilter {
  if (!/[*?]/.test(glob)) return { glob, uid: glob, matches: (uid) => uid === glob };
  const expressionOf = (part: string) => (part === '*' ? '.*' : part === '?' ? '.' : RE2JS.quote(part));
  const pattern = RE2JS.compile(
    glob
      .split(/([*?])/)
      .map(expressionOf)
      .join(''),
    RE2JS.DOTALL,
  );
  return { glob, uid: undefined, matches: (uid) => pattern.matches(uid) };
}
