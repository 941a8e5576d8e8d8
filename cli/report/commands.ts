import type { Resource } from '../../lambda/resources';
import { formatTime, shellQuoted } from '../terminal/format';

/** The commands that show more than the report. @param archive its location, as its user named it */
export function commandsOf(archive: string) {
  const where = `--archive ${shellQuoted(archive)}`;
  const collector = (command: string) => `npm run collector -- ${command} ${where}`;
  const ofCluster = (uid: string, command: string) => {
    // A uid may look like an option.
    const argument = `${uid.startsWith('-') ? '-- ' : ''}${shellQuoted(uid)}`;
    return `npm run --silent collector -- ${command} ${where} ${argument}`;
  };
  const complete = (run: Date) => `npm run collector -- run --stack NAME --run ${formatTime(run)}`;
  return {
    change: (uid: string, run: Date) => ofCluster(uid, `diff --run ${formatTime(run)}`),
    changes: (run: Date) => collector(`history --all --from ${formatTime(run)} --to ${formatTime(run)}`),
    content: (uid: string, resource: Resource, run: Date) =>
      ofCluster(uid, `show --resource ${resource} --run ${formatTime(run)}`),
    cluster: (uid: string) => collector(`runs --cluster=${shellQuoted(uid)}`),
    run: (run: Date) => collector(`runs ${formatTime(run)}`),
    complete,
    collectLate: (run: Date) => `${complete(run)} --without-record`,
    verify: collector('verify'),
  };
}

export type Commands = ReturnType<typeof commandsOf>;
