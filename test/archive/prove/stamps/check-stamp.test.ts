import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkStamp, type Stamp, StampError } from '../../../../archive/prove/stamps/check-stamp';
import { stampRequest } from '../../../../archive/prove/stamps/request-stamp';
import { answerStamp, type StampAnswerOptions } from '../../../../local/stamp-authority/answer-stamp';
import { extension, issueCertificate, ofIssuer, ofStamps } from '../../../../local/stamp-authority/issue-certificate';
import { sequence } from '../../../../local/stamp-authority/write-der';

const dayMs = 86_400_000;
const now = new Date('2026-11-23T06:30:00Z');
const at = (days: number) => new Date(now.getTime() + days * dayMs);
const sha256 = createHash('sha256').update('{"version":1,"number":42}').digest();
const root = issueCertificate({ name: 'Root', validFrom: at(-10), validTo: at(10), extensions: ofIssuer() });
const other = issueCertificate({ name: 'Root', validFrom: at(-10), validTo: at(10), extensions: ofIssuer() });
const roots = [other.certificate, root.certificate];

function certificate(extensions = ofStamps(), issuer = root, [from, to]: readonly [number, number] = [-1, 1]) {
  return issueCertificate({
    name: `Below ${issuer.certificate.subject}`,
    issuer,
    validFrom: at(from),
    validTo: at(to),
    extensions,
  });
}

function stampBy(options: Partial<StampAnswerOptions>, trusted = roots): Stamp {
  const { bytes, nonce } = stampRequest(sha256);
  const answer = answerStamp(bytes, { signer: certificate(), time: now, ...options });
  return checkStamp(answer, { sha256, nonce, roots: trusted });
}

describe('a stamp', () => {
  it('says its time, and the trusted root that its certificate leads to', () => {
    expect(stampBy({})).toEqual({ time: now, root: root.certificate });
  });

  it('may be signed below certificates that it carries', () => {
    const first = certificate(ofIssuer(1));
    const second = certificate(ofIssuer(0), first);
    const signer = certificate(ofStamps(), second);
    expect(stampBy({ signer, intermediates: [second, first] }).root).toEqual(root.certificate);
  });

  it('stays right when its certificate has ended', () => {
    const signer = certificate(ofStamps(), root, [-3, -2]);
    expect(stampBy({ signer, time: at(-2.5) }).time).toEqual(at(-2.5));
  });

  const notTrusted = /leads to a trusted root/;
  const issuerOfNone = certificate();
  const denied = certificate([extension('2.5.29.19', sequence())]);
  const shortPath = certificate(ofIssuer(0));
  const between = certificate(ofIssuer(), shortPath);
  const ended = certificate(ofIssuer(), root, [-3, -2]);
  it.each<[string, Partial<StampAnswerOptions>, RegExp]>([
    ['a certificate that ended before', { signer: certificate(ofStamps(), root, [-3, -2]) }, notTrusted],
    ['a certificate that began later', { signer: certificate(ofStamps(), root, [1, 2]) }, notTrusted],
    ['a certificate for other uses', { signer: certificate([]) }, notTrusted],
    ['a use that is not critical', { signer: certificate(ofStamps({ isCritical: false })) }, notTrusted],
    ['a use besides', { signer: certificate(ofStamps({ others: ['1.3.6.1.5.5.7.3.3'] })) }, notTrusted],
    ['another root', { signer: certificate(ofStamps(), certificate(ofIssuer())) }, notTrusted],
    [
      'an issuer that may not issue',
      { signer: certificate(ofStamps(), issuerOfNone), intermediates: [issuerOfNone] },
      notTrusted,
    ],
    [
      'an issuer that says it may not',
      { signer: certificate(ofStamps(), denied), intermediates: [denied] },
      notTrusted,
    ],
    [
      'too many below an issuer',
      { signer: certificate(ofStamps(), between), intermediates: [between, shortPath] },
      notTrusted,
    ],
    ['an issuer that had ended', { signer: certificate(ofStamps(), ended), intermediates: [ended] }, notTrusted],
    ['a key of another certificate', { signer: { ...certificate(), key: root.key } }, /its signature is wrong/],
  ])('of %s does not count', (_, options, problem) => {
    expect(() => stampBy(options)).toThrow(problem);
  });

  it('does not count by a root that had ended', () => {
    const signer = certificate(ofStamps(), root, [-20, 20]);
    expect(() => stampBy({ signer, time: at(11) })).toThrow(notTrusted);
  });

  it('looks at each certificate once: of one name and one key they lead to each other in more ways than can be tried', () => {
    const named = (issuer?: typeof root) =>
      issueCertificate({
        name: 'Same',
        ...(issuer !== undefined && { issuer, key: issuer.key }),
        validFrom: at(-10),
        validTo: at(10),
        extensions: ofIssuer(),
      });
    const same = named();
    const signer = certificate(ofStamps(), same);
    const intermediates = Array.from({ length: 15 }, () => named(same));
    const verifies = jest.spyOn(X509Certificate.prototype, 'verify');
    expect(() => stampBy({ signer, intermediates })).toThrow(notTrusted);
    // Each of 16 by each of the others and by itself.
    expect(verifies.mock.calls.length).toBeLessThanOrEqual(16 * 16);
    verifies.mockRestore();
    expect(() => stampBy({ signer, intermediates: [...intermediates, same] })).toThrow('more than 16 certificates');
  });

  it('does not count by a certificate that others signed, whoever trusts it: it may lead to a root', () => {
    const between = certificate(ofIssuer());
    const signer = certificate(ofStamps(), between);
    expect(() => stampBy({ signer }, [between.certificate])).toThrow(notTrusted);
    expect(stampBy({ signer }, [between.certificate, root.certificate]).root).toEqual(root.certificate);
  });

  it('does not count without a trusted root', () => {
    expect(() => stampBy({}, [])).toThrow(notTrusted);
  });

  it('does not count for another hash or another request', () => {
    const { bytes, nonce } = stampRequest(sha256);
    const answer = answerStamp(bytes, { signer: certificate(), time: now });
    const another = createHash('sha256').update('another').digest();
    expect(() => checkStamp(answer, { sha256: another, roots })).toThrow('it is of another hash');
    expect(() => checkStamp(answer, { sha256, nonce: stampRequest(sha256).nonce, roots })).toThrow('nonce');
    expect(checkStamp(answer, { sha256, nonce, roots }).time).toEqual(now);
  });

  it('does not count if bytes follow it, or any are cut off', () => {
    const answer = answerStamp(stampRequest(sha256).bytes, { signer: certificate(), time: now });
    expect(() => checkStamp(Buffer.concat([answer, Buffer.of(0)]), { sha256, roots })).toThrow(StampError);
    for (let length = 0; length < answer.length; length += 1)
      expect(() => checkStamp(answer.subarray(0, length), { sha256, roots })).toThrow(StampError);
  });

  it('does not count if nobody can read the key of its certificate', () => {
    const { certificate: whole, key } = certificate();
    const raw = Buffer.from(whole.raw);
    // The type of the key becomes one that nobody knows.
    raw[raw.indexOf('2a8648ce3d0201', 'hex')] = 0x7f;
    const signer = { certificate: new X509Certificate(raw), key };
    expect(() => stampBy({ signer })).toThrow(StampError);
  });

  it('has no other time whichever bit is changed', () => {
    const answer = answerStamp(stampRequest(sha256).bytes, { signer: certificate(), time: now });
    let refused = 0;
    for (let bit = 0; bit < answer.length * 8; bit += 3) {
      const changed = Buffer.from(answer);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      try {
        expect(checkStamp(changed, { sha256, roots }).time).toEqual(now);
      } catch (error) {
        if (!(error instanceof StampError)) throw error;
        refused += 1;
      }
    }
    expect(refused / (answer.length * 8)).toBeGreaterThan(0.32);
  });

  // Made by `openssl ts -reply`, and by the staging authority of Sigstore (from the tests of trailofbits/rfc3161-client).
  it.each([
    ['rsa-sha512-intermediate', 'hello', '2026-11-23T21:27:11.000Z'],
    ['sigstore-staging', 'hello', '2025-05-09T11:58:55.000Z'],
  ])('of %s is right', (name, content, time) => {
    const folder = join(__dirname, 'answers');
    const trusted = [new X509Certificate(readFileSync(join(folder, `${name}.pem`)))];
    const expected = { sha256: createHash('sha256').update(content).digest(), roots: trusted };
    expect(checkStamp(readFileSync(join(folder, `${name}.tsr`)), expected).time).toEqual(new Date(time));
  });
});
