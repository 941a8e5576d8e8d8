import { sealStampKey } from '../../../archive/format/keys';
import { checkStamp } from '../../../archive/prove/stamps/check-stamp';
import { stampRequest } from '../../../archive/prove/stamps/request-stamp';
import type { AuditContext } from '../../../lambda/audit/audit';
import { answerStamp } from '../../../local/stamp-authority/answer-stamp';
import { issueCertificate, ofIssuer, ofStamps } from '../../../local/stamp-authority/issue-certificate';
import { type Audited, TestKey } from './invoke-audit';
import { plan, SealedWorld } from './sealed-world';

const valid = { validFrom: new Date('2026-01-01'), validTo: new Date('2036-01-01') };
const root = issueCertificate({ name: 'Root of one', ...valid, extensions: ofIssuer() });
const signer = issueCertificate({ name: 'one', ...valid, issuer: root, extensions: ofStamps() });

/** An authority of time stamps that answers at a time. */
function answering(time: Date): AuditContext['requestStamp'] {
  return async (_, sha256) => {
    const { bytes, nonce } = stampRequest(sha256);
    const response = answerStamp(bytes, { signer, time });
    return { response, ...checkStamp(response, { sha256, nonce, roots: [root.certificate] }) };
  };
}

const stamped = {
  ...plan,
  timestamps: [{ name: 'one', url: 'http://one.example', root: root.certificate.raw.toString('base64') }],
};
const paused = { ...stamped, schedule: { ...plan.schedule, enabled: false } };

/** A mail as somebody gets it, with what differs each time left out. */
function printed({ mails }: Audited): string[] {
  return mails.map(({ subject, text }) => `Subject: ${subject}\n\n${text.replace(/[0-9a-f]{64}/g, '<SHA-256>')}`);
}

/**
 * The mails of a week, Monday to Sunday, in which a stamp is removed and put back, a cluster is left out by somebody who changed
 * the collector, somebody audits twice a day, and the schedule is switched off.
 */
export async function mailsOfWeek(): Promise<readonly string[]> {
  const world = new SealedWorld(plan.clusters, undefined, new TestKey());
  const mails: string[] = [];
  const audit = async (day: number, at = '23:30', own = stamped) => {
    const time = `2026-11-${day}T${at}:00.000Z`;
    const requestStamp = answering(new Date(Date.parse(time) + 7000));
    mails.push(...printed(await world.audit(time, { plan: own, requestStamp })));
  };
  await world.collectDay(16);
  await audit(16);
  // Tuesday: `c` fails at two times.
  await world.collectDay(17, [], ['00', '06']);
  await world.collectDay(17, ['c'], ['12', '18']);
  await audit(17);
  // Wednesday: a stamp is removed.
  await world.collectDay(18);
  const key = sealStampKey({ number: 1, authority: 'one' });
  const stamp = world.bucket.objects.get(key);
  world.bucket.objects.delete(key);
  await audit(18);
  // Thursday: it is put back, and three runs leave `b` and `c` out.
  if (stamp !== undefined) world.bucket.objects.set(key, stamp);
  await world.collectDay(19, [], ['00']);
  const one = new SealedWorld([{ uid: 'a' }], world.bucket, world.key);
  await one.collectDay(19, [], ['06', '12', '18']);
  await audit(19);
  // Friday: two audits. The second of a day sends no mail if nothing is damaged: the next one tells what it saw.
  await world.collectDay(20, [], ['00', '06']);
  await audit(20, '07:30');
  await world.collectDay(20, ['a'], ['12']);
  await audit(20, '13:30');
  await world.collectDay(20, [], ['18']);
  // Saturday: the schedule is switched off.
  await world.collectDay(21, [], ['00']);
  await audit(21, '23:30', paused);
  await audit(22, '23:30', paused);
  return mails;
}

/** As docs/reading-the-archive.md has it. */
export function inPage(mail: string): string {
  return mail.replace(/^(?=.)/gm, '    ');
}
