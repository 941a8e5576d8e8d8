import { formatBytes } from '../../terminal/format';
import type { CellDetails, Resource } from './model';

/** One resource of a cell in words: for the eye in the details, for the ear in the cell's label. */
export function describeCell(resource: Resource, details: CellDetails): string {
  const { outcome, isLate, isChanged, size, state, reason } = details;
  if (outcome === 'none') return `${resource}: not covered`;
  const parts = [outcome === 'not-attempted' ? 'not attempted' : outcome === 'already-archived' ? 'archived' : outcome];
  if (size !== undefined) parts.push(formatBytes(size));
  if (state !== undefined) parts.push(`state ${state}`);
  if (isChanged) parts.push('changed');
  if (isLate) parts.push('late');
  if (reason !== undefined && reason !== '') parts.push(reason);
  return `${resource}: ${parts.join(', ')}`;
}
