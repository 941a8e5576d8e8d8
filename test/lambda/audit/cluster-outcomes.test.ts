import { ClusterOutcomes } from '../../../lambda/audit/cluster-outcomes';

const at = (hour: number) => new Date(Date.UTC(2026, 10, 20, hour));

/** A run that archived a manifest of one cluster. */
function run(hour: number, content: string) {
  const manifest = { cluster: 'c', resource: 'manifest', outcome: 'archived', sha256: content.repeat(64) } as const;
  const counts = { archived: 1, failed: 0, notAttempted: 0, optionalMissing: 0, doubts: 0 };
  const outcomes = [{ ...manifest, attempt: 1, collectorVersion: '1.0.0' }];
  return { run: at(hour), outcomes, status: 'complete', counts, bytes: 1, storedBytes: 1 } as const;
}

it('a manifest that changed is told once: new runs are compared with the one before them, which is not new', () => {
  const clusters = new ClusterOutcomes();
  clusters.add(run(1, 'a'), false);
  clusters.add(run(2, 'b'), false);
  clusters.add(run(3, 'b'));
  expect(clusters.summary()).toMatchObject({ complete: 1, objects: 1, changed: { count: 0, first: [] } });
  clusters.add(run(4, 'a'));
  const changed = { cluster: 'c', from: at(3).toISOString(), to: at(4).toISOString() };
  expect(clusters.summary().changed).toEqual({ count: 1, first: [changed] });
});
