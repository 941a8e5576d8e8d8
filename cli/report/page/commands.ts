import { formatTime, shellQuoted } from '../../terminal/format';
import type { ReportData, Resource } from './report-data';

/** The commands that show more than the page. */
export class Commands {
  readonly #archive: string;

  constructor({ archive }: Pick<ReportData, 'archive'>) {
    this.#archive = `--archive ${shellQuoted(archive)}`;
  }

  /** What changed in a manifest with a run. */
  change(cluster: string, run: string): string {
    return this.#about('diff', cluster, `--run ${formatTime(run)}`);
  }

  /** Whose manifests changed with a run. */
  changes(run: string): string {
    const time = formatTime(run);
    return `npm run collector -- history --all --from ${time} --to ${time} ${this.#archive}`;
  }

  content(cluster: string, resource: Resource, run: string): string {
    return this.#about('show', cluster, `--resource ${resource} --run ${formatTime(run)}`);
  }

  /** Every outcome of a run. */
  outcomes(run: string): string {
    return `npm run collector -- runs ${formatTime(run)} ${this.#archive}`;
  }

  /** Collects what a run has not archived. */
  complete(run: string): string {
    return `npm run collector -- run --stack NAME --run ${formatTime(run)}`;
  }

  /** Collects everything under the time of a run that left no record. */
  makeUp(run: string): string {
    return `${this.complete(run)} --without-record`;
  }

  #about(command: string, cluster: string, options: string): string {
    // A uid may look like an option.
    const uid = `${cluster.startsWith('-') ? '-- ' : ''}${shellQuoted(cluster)}`;
    return `npm run --silent collector -- ${command} ${options} ${this.#archive} ${uid}`;
  }
}
