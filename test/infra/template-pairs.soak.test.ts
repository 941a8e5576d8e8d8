import { everything, kmsKeyArn, topicArn } from './example-stack';
import { combinations, losses, replacingProperties, statefulWith } from './template-pairs';

/**
 * What one stack may be changed in, each with what it may be: whatever adds or changes a resource that holds something.
 * `template-pairs.test.ts` has the other options.
 */
const choices: Record<string, unknown>[][] = [
  [{}, { archive: { kms: true } }, { archive: { kms: kmsKeyArn } }],
  [{}, { archive: { objectLock: { days: 1, mode: 'compliance' } } }],
  [{}, { archive: { retentionDays: 400 } }],
  [{}, { network: everything.network }],
  [{}, { shards: 8 }],
  [{}, { alerts: { emails: ['night@example.com'] } }, { alerts: { topicArn } }],
  [{}, { audit: everything.audit }],
];

describe('an update from any configuration to any other, with all options combined', () => {
  it('replaces and deletes nothing that holds something', () => {
    const replacing = replacingProperties();
    const templates = combinations(choices).map(statefulWith);
    expect(templates).toHaveLength(288);
    let pairs = 0;
    const found = new Set<string>();
    for (const from of templates)
      for (const to of templates) {
        if (from === to) continue;
        pairs += 1;
        for (const loss of losses(from, to, replacing)) found.add(loss);
      }
    expect(pairs).toBe(288 * 287);
    expect([...found]).toEqual([]);
  }, 3_600_000);
});
