/** Which clusters a command is about. */
export interface ClusterFilter {
  /** As it was given. */
  readonly glob: string;
  /** The only cluster, if the filter names one. */
  readonly uid: string | undefined;
  readonly matches: (uid: string) => boolean;
}

/** A uid, or a pattern in which `*` stands for any characters and `?` for one. */
export function clusterFilter(glob: string): ClusterFilter {
  const characters = [...glob];
  if (!/[*?]/.test(glob)) return { glob, uid: glob, matches: (uid) => uid === glob };
  return { glob, uid: undefined, matches: (uid) => matchesGlob(characters, [...uid]) };
}

/** Tries the shortest text for each star first, and only ever lengthens the last one: no pattern takes long. */
function matchesGlob(glob: readonly string[], text: readonly string[]): boolean {
  let star = -1;
  let behindStar = 0;
  let at = 0;
  for (let read = 0; read < text.length; ) {
    if (glob[at] === '*') {
      star = at;
      behindStar = read;
      at += 1;
    } else if (glob[at] === '?' || glob[at] === text[read]) {
      at += 1;
      read += 1;
    } else if (star >= 0) {
      at = star + 1;
      behindStar += 1;
      read = behindStar;
    } else return false;
  }
  return glob.slice(at).every((character) => character === '*');
}
