import * as z from 'zod';
import { damageKinds } from '../../archive/format/finding';
import { parsePublicKey } from '../../archive/format/seal-file';
import { erasedInOrder } from './config-rules';
import { cronExpression, keyArn, members, trueOrFalse, wholeNumber } from './schema-values';

const publicKey = z
  .string('a public key')
  .refine(
    (text) => parsePublicKey(text) !== undefined,
    'a public key of the curve P-256: the base64 text of its PEM file',
  );

const dayForm = 'a day such as 2026-11-20, or a time such as 2026-11-20T10:00:00Z';

const dayOrTime = z.union([z.iso.date(dayForm), z.iso.datetime(dayForm)]);

const why = z
  .string('a reason')
  .min(1, 'a reason')
  .max(300, 'at most 300 characters')
  .describe('Why it stays as it is, and who says so. It is sealed.');

/** Damage, a cluster whose objects were deleted on request, or a shorter retention. */
const acknowledged = z.union([
  members({
    kind: z.enum(damageKinds, `a kind of damage: ${damageKinds.join(', ')}`).describe('Kind of a finding.'),
    key: z
      .string('a key')
      .min(1, 'a key')
      .max(1024, 'at most 1,024 characters')
      .describe('Key of the finding, as the mail has it.'),
    why,
  }),
  members({
    cluster: z
      .string('the uid of a cluster')
      .min(1, 'the uid of a cluster')
      .max(200, 'at most 200 characters')
      .describe('A cluster whose objects were deleted on request. Excuses what is missing of it.'),
    from: dayOrTime.describe('First run that was erased; left out: from the beginning.').optional(),
    to: dayOrTime
      .describe('Last run that was erased; left out: the time of the first seal that has this entry.')
      .optional(),
    why,
  }).check(erasedInOrder),
  members({
    retentionDays: wholeNumber(1, 36_500).describe('A retention that is shorter than before, and meant so.'),
    why,
  }),
]);

const auditAlarms = members({
  staleAfterHours: wholeNumber(1, 87_600)
    .describe('Hours without an archived object after which a cluster raises an alarm, more than between two runs.')
    .optional(),
  frozenAfterHours: wholeNumber(1, 87_600)
    .describe(
      'Hours without anything new in a log after which it raises one; the mail lists logs after 24 in any case.',
    )
    .optional(),
  logGaps: trueOrFalse()
    .describe('Whether an alarm is raised when lines of a log may be lost between two runs.')
    .optional(),
});

/** The member `audit`, but for its time stamps, which name files. */
export const audit = members({
  schedule: cronExpression.describe(
    'When the archive is audited: a cron expression in the time zone of schedule, at least once a day is best.',
  ),
  rereadDays: z
    .union([z.literal(false, 'false'), wholeNumber(1, 36_500)])
    .describe(
      'Days within which every old object is read again; left out: 90, or more for a large archive; false: never.',
    )
    .optional(),
  alarms: auditAlarms.describe('What raises an alarm beside damage; left out: nothing does.').optional(),
  acknowledged: z
    .array(acknowledged, 'a list of findings, clusters or retentions')
    .max(1000, 'at most 1,000 entries')
    .describe(
      'Damage that nobody can repair, clusters that were erased, a shorter retention: reported, without an alarm.',
    )
    .optional(),
  signingKeyArn: keyArn
    .describe(
      'Existing key that signs seals, of the kind ECC_NIST_P256; its policy needs the output SigningKeyPolicy. Left out: the stack has its own.',
    )
    .optional(),
  formerPublicKeys: z
    .array(publicKey, 'a list of public keys')
    .describe('Public keys that signed seals before the signing key was replaced: the base64 text of their PEM files.')
    .optional(),
});
