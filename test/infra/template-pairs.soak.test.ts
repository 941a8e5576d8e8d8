import { everything, kmsKeyArn, topicArn } from './example-stack';
import { losses, replacingProperties, statefulWith } from './template-pairs';

type Members = Record<string, unknown>;

/** Each of the ones with each of the others. */
const each = (ones: Members[], others: Members[]) =>
  ones.flatMap((one) => others.map((other) => ({ ...one, ...other })));

const archives = [
  [{}, { kms: true }, { kms: kmsKeyArn }],
  [{}, { objectLock: { days: 1, mode: 'compliance' } }],
  [{}, { retentionDays: 400 }],
].reduce(each);

/**
 * What one stack may be changed in, each with what it may be: whatever adds or changes a resource that holds something.
 * `template-pairs.test.ts` has the other options.
 */
const configurations = [
  archives.map((archive) => ({ archive })),
  [{}, { network: everything.network }],
  [{}, { shards: 8 }],
  [{}, { alerts: { page: { emails: ['night@example.com'] } } }, { alerts: { page: { topicArn } } }],
  [{}, { audit: everything.audit }],
].reduce(each);

describe('an update from any configuration to any other, with any three options combined', () => {
  it('replaces and deletes nothing that holds something', () => {
    expect(configurations).toHaveLength(288);
    // Every fifth has each value of an option with each value of each two others.
    const some = configurations.filter((_, at) => at % 5 === 0);
    expect(losses(some.map(statefulWith), replacingProperties())).toEqual([]);
  }, 3_600_000);
});
