import type { Resource } from '../../../lambda/resources';
import { formatTime, shellQuoted } from '../../terminal/format';

/** The commands that show more than the page. @param archive where it lies, as its user named it */
export function commandsOf(archive: string) {
  const where = `--archive ${shellQuoted(archive)}`;
  const about = (cluster: string, command: string) => {
    // A uid may look like an option.
    const uid = `${cluster.startsWith('-') ? '-- ' : ''}${shellQuoted(cluster)}`;
    return `npm run --silent collector -- ${command} ${where} ${uid}`;
  };
  const complete = (run: string) => `npm run collector -- run --stack NAME --run ${formatTime(run)}`;
  return {
    /** What changed in a manifest with a run. */
    change: (cluster: string, run: string) => about(cluster, `diff --run ${formatTime(run)}`),
    /** Whose manifests changed with a run. */
    changes: (run: string) => {
      const time = formatTime(run);
      return `npm run collector -- history --all --from ${time} --to ${time} ${where}`;
    },
    content: (cluster: string, resource: Resource, run: string) =>
      about(cluster, `show --resource ${resource} --run ${formatTime(run)}`),
    /** Every outcome of a run. */
    outcomes: (run: string) => `npm run collector -- runs ${formatTime(run)} ${where}`,
    /** Collects what a run has not archived. */
    complete,
    /** Collects everything under the time of a run that left no record. */
    makeUp: (run: string) => `${complete(run)} --without-record`,
  };
}
