import { formatCount } from '../../terminal/format';
import { outcomeSign } from './cell-details';
import { buttonElement, byId, commandElement, element, fillList, formatNumber, timeElement } from './dom';
import { type Change, type Failure, hasDoubt, type Model, type Row, resources } from './model';

/** Shows a cell of the grid. */
type GoTo = (row: Row, run: number) => void;

/** Failures with one reason, the newest first. */
type Group = readonly Failure[];

/**
 * Lists what was not archived, or archived with a doubt, and has the text in its cluster or its reason: a line per reason,
 * which opens to its clusters. What the last run has comes first, then what is most frequent.
 */
export function showFailures(model: Model, id: 'failures' | 'doubts', wanted: string, goTo: GoTo): void {
  const all = model.failures.filter(({ cell }) => hasDoubt(cell) === (id === 'doubts'));
  const found = all.filter(({ row, cell }) =>
    [row.uid, cell.reason, cell.group].some((text) => text?.toLowerCase().includes(wanted)),
  );
  const rank = (group: Group) => (newestOf(group).run === model.lastRun ? 0 : 1);
  const groups = [...Map.groupBy(found, ({ cell }) => cell.group).values()].sort(
    (a, b) => rank(a) - rank(b) || b.length - a.length || newestOf(b).run - newestOf(a).run,
  );
  const leftOut = model.failuresLeftOut === 0 ? '' : ` (${formatNumber(model.failuresLeftOut)} older ones left out)`;
  byId(id).hidden = all.length === 0;
  byId(`${id}-count`).textContent = `${formatNumber(found.length)}${leftOut}`;
  fillList(byId(`${id}-list`), groups, (group) => groupElement(model, group, goTo));
}

function groupElement(model: Model, group: Group, goTo: GoTo): HTMLElement {
  const clusters = [...Map.groupBy(group, ({ row }) => row).values()];
  clusters.sort((a, b) => newestOf(b).run - newestOf(a).run || runsOf(b) - runsOf(a));
  const { row, cell } = newestOf(group);
  const whose = clusters.length === 1 ? row.uid : formatCount(clusters.length, 'cluster');
  const list = element('div');
  fillList(list, clusters, (failures) => clusterElement(model, failures, goTo));
  return element(
    'details',
    element(
      'summary',
      `${formatNumber(group.length)} × `,
      element('strong', cell.group ?? ''),
      ' ',
      element('span.quiet', `${whose} · ${whenOf(model, group)}`),
    ),
    list,
  );
}

function whenOf(model: Model, group: Group): string {
  const [newest, oldest] = [newestOf(group).run, group.at(-1)?.run ?? 0];
  const last = newest === model.lastRun ? 'the last run' : `run ${model.timeOf(newest)}`;
  return newest === oldest ? `only in ${last}` : `from ${model.timeOf(oldest)} to ${last}`;
}

/** What one cluster has of one reason. */
function clusterElement(model: Model, failures: Group, goTo: GoTo): HTMLElement {
  const { row, run, cell } = newestOf(failures);
  const found = resources.filter((one) => failures.some(({ resource }) => resource === one)).join(' and ');
  const when = runsOf(failures) === 1 ? '' : `${runsOf(failures)} runs, the last: `;
  return element(
    'div.entry',
    element(
      'div',
      outcomeSign(cell),
      buttonElement('button.link', row.uid, () => goTo(row, run)),
    ),
    element('div.quiet', `${found} · ${when}`, timeElement(model.timeOf(run))),
    element('div', cell.reason ?? ''),
  );
}

function newestOf(group: Group): Failure {
  const [newest] = group;
  if (newest === undefined) throw new Error('A group of failures is never empty');
  return newest;
}

function runsOf(failures: Group): number {
  return new Set(failures.map(({ run }) => run)).size;
}

/** Lists the changes of manifests whose cluster has the text, newest first. Each opens to the command that shows it. */
export function showChanges(model: Model, wanted: string): void {
  const changes = model.changes.filter(({ row }) => row.uid.toLowerCase().includes(wanted));
  byId('changes').hidden = model.changes.length === 0;
  byId('changes-count').textContent = formatNumber(changes.length);
  fillList(byId('changes-list'), changes, (change) => changeElement(model, change));
}

function changeElement(model: Model, { row, run }: Change): HTMLElement {
  const time = model.timeOf(run);
  return element(
    'details',
    element('summary', timeElement(time), ' ', element('span.uid', row.uid)),
    commandElement('What changed', model.commands.change(row.uid, time)),
    commandElement('All manifests that changed with this run', model.commands.changes(time)),
  );
}
