import type { Commands } from './commands';
import { byId, commandElement, element, fillList, formatNumber, timeElement } from './dom';
import type { Change, Model } from './model';

/** Lists the changes of manifests whose cluster has the text, newest first. Each opens to the command that shows it. */
export function showChanges(model: Model, commands: Commands, text: string): void {
  const wanted = text.trim().toLowerCase();
  const changes = model.changes.filter(({ row }) => row.cluster.uid.toLowerCase().includes(wanted));
  byId('changes').hidden = model.changes.length === 0;
  byId('change-count').textContent = formatNumber(changes.length);
  fillList(byId('change-list'), changes, (change) => changeElement(model, commands, change));
}

function changeElement(model: Model, commands: Commands, { row, run }: Change): HTMLElement {
  const { uid } = row.cluster;
  const time = model.timeOf(run);
  return element(
    'details',
    element('summary', timeElement(time), element('span.uid', uid)),
    commandElement('What changed', commands.change(uid, time)),
    commandElement('All manifests that changed with this run', commands.changes(time)),
  );
}
