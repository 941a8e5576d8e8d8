import { resourceNames } from '../../../lambda/resources';
import { formatCount } from '../../terminal/format';
import { outcomeSign } from './cell-details';
import { buttonElement, commandElement, element, formatNumber, listElement, timeElement } from './dom';
import { type Change, type Failure, hasDoubt, type Model, type Row } from './model';

/** Shows a cell of the grid. */
type GoTo = (row: Row, run: number) => void;

/** Failures with one reason, the newest first; there is at least one. */
type Group = readonly Failure[];

/** The sections below the grid: what was not archived, what has a doubt, what changed, as far as the text is in it. */
export function listSections(model: Model, wanted: string, goTo: GoTo): HTMLElement[] {
  const has = (text: string | undefined) => text?.toLowerCase().includes(wanted);
  const leftOut = model.failuresLeftOut === 0 ? '' : ` (${formatNumber(model.failuresLeftOut)} older ones left out)`;
  const failures = (id: string, heading: string, isDoubt: boolean) => {
    const all = model.failures.filter(({ cell }) => hasDoubt(cell) === isDoubt);
    const found = all.filter(({ row, cell }) => has(row.uid) || has(cell.reason) || has(cell.group));
    const list = listElement(groupsOf(model, found), (group) => groupElement(model, group, goTo));
    return section(id, heading, all, `${formatNumber(found.length)}${leftOut}`, list);
  };
  const changed = model.changes.filter(({ row }) => has(row.uid));
  const changes = listElement(changed, (change) => changeElement(model, change));
  return [
    failures('failures', 'Not archived', false),
    failures('doubts', 'Archived with a doubt', true),
    section('changes', 'Manifest changes', model.changes, formatNumber(changed.length), changes),
  ];
}

/** @param all of which the list has some: a section that never has any is hidden */
function section(id: string, heading: string, all: readonly Change[], count: string, list: HTMLElement): HTMLElement {
  const made = element('section.card', { id }, element('h2', `${heading} `, element('span.count', count)), list);
  made.hidden = all.length === 0;
  return made;
}

/** A group for each reason. What the last run has comes first, then what is most frequent. */
function groupsOf(model: Model, failures: readonly Failure[]): Group[] {
  const rank = (group: Group) => (newestOf(group).run === model.lastRun ? 0 : 1);
  return [...Map.groupBy(failures, ({ cell }) => cell.group).values()].sort(
    (a, b) => rank(a) - rank(b) || b.length - a.length || newestOf(b).run - newestOf(a).run,
  );
}

/** A line for a reason, which opens to its clusters. */
function groupElement(model: Model, group: Group, goTo: GoTo): HTMLElement {
  const clusters = [...Map.groupBy(group, ({ row }) => row).values()];
  clusters.sort((a, b) => newestOf(b).run - newestOf(a).run || runsOf(b) - runsOf(a));
  const { row, cell } = newestOf(group);
  const whose = clusters.length === 1 ? row.uid : formatCount(clusters.length, 'cluster');
  const reason = [`${formatNumber(group.length)} × `, element('strong', cell.group ?? ''), ' '];
  const summary = element('summary', ...reason, element('span.quiet', `${whose} · ${whenOf(model, group)}`));
  const list = listElement(clusters, (failures) => clusterElement(model, failures, goTo));
  return element('details', summary, list);
}

function whenOf(model: Model, group: Group): string {
  const [newest, oldest] = [newestOf(group).run, group.at(-1)?.run ?? 0];
  const last = newest === model.lastRun ? 'the last run' : `run ${model.timeOf(newest)}`;
  return newest === oldest ? `only in ${last}` : `from ${model.timeOf(oldest)} to ${last}`;
}

/** What one cluster has of one reason. */
function clusterElement(model: Model, failures: Group, goTo: GoTo): HTMLElement {
  const { row, run, cell } = newestOf(failures);
  const found = resourceNames.filter((one) => failures.some(({ resource }) => resource === one)).join(' and ');
  const when = runsOf(failures) === 1 ? '' : `${runsOf(failures)} runs, the last: `;
  const link = buttonElement('button.link', row.uid, () => goTo(row, run));
  return element(
    'div.entry',
    element('div', outcomeSign(cell), link),
    element('div.quiet', `${found} · ${when}`, timeElement(model.timeOf(run))),
    element('div', cell.reason ?? ''),
  );
}

function newestOf([newest]: Group): Failure {
  return newest as Failure;
}

function runsOf(failures: Group): number {
  return new Set(failures.map(({ run }) => run)).size;
}

/** A change, which opens to the commands that show it. */
function changeElement(model: Model, { row, run }: Change): HTMLElement {
  const time = model.timeOf(run);
  return element(
    'details',
    element('summary', timeElement(time), ' ', element('span.uid', row.uid)),
    commandElement('What changed', model.commands.change(row.uid, time)),
    commandElement('All manifests that changed with this run', model.commands.changes(time)),
  );
}
