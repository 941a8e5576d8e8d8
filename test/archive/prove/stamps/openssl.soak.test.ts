import { spawnSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkStamp, StampError } from '../../../../archive/prove/stamps/check-stamp';
import { stampRequest } from '../../../../archive/prove/stamps/request-stamp';
import { answerStamp } from '../../../../local/stamp-authority/answer-stamp';
import {
  extension,
  type Issuer,
  issueCertificate,
  ofStamps,
} from '../../../../local/stamp-authority/issue-certificate';
import { integer, octets, oid, sequence, yes } from '../../../../local/stamp-authority/write-der';
import { newFolder } from '../../../support/new-folder';

const folder = newFolder();
const sha256 = createHash('sha256').update('a seal').digest();
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

function openssl(command: string): { readonly isDone: boolean; readonly error: string } {
  const { status, stderr } = spawnSync('openssl', command.split(' '), { cwd: folder, encoding: 'utf8' });
  return { isDone: status === 0, error: stderr };
}

function made(command: string): void {
  const { isDone, error } = openssl(command);
  if (!isDone) throw new Error(`openssl ${command} failed: ${error}`);
}

const settings = `
[ca]
basicConstraints=critical,CA:true
keyUsage=critical,keyCertSign
[stamps]
extendedKeyUsage=critical,timeStamping
[tsa]
default_tsa=authority
[authority]
serial=${join(folder, 'serial')}
signer_digest=DIGEST
default_policy=1.2.3.4.1
digests=sha256
ess_cert_id_alg=sha256
`;

/** Makes root.pem, and tsa.pem below it, through an intermediate if that is wanted. */
function makeAuthority(key: string, digest: string, isDirect: boolean): void {
  writeFileSync(join(folder, 'serial'), '01\n');
  writeFileSync(join(folder, 'settings'), settings.replace('DIGEST', digest));
  const names = isDirect ? ['root', 'tsa'] : ['root', 'between', 'tsa'];
  for (const [index, name] of names.entries()) {
    made(`genpkey ${key} -out ${name}.key`);
    made(`req -new -key ${name}.key -subj /CN=${name} -out ${name}.csr`);
    const issuer = names[index - 1];
    const by = issuer === undefined ? '-signkey root.key' : `-CA ${issuer}.pem -CAkey ${issuer}.key -CAcreateserial`;
    const section = name === 'tsa' ? 'stamps' : 'ca';
    made(
      `x509 -req -in ${name}.csr ${by} -days 2 -extfile settings -extensions ${section} -${digest} -out ${name}.pem`,
    );
  }
}

const usage = (bits: string, isCritical = true) => extension('2.5.29.15', Buffer.from(bits, 'hex'), isCritical);
const [signing, signingAndMore, encipherment, certSign] = ['030206c0', '030205e0', '03020520', '03020204'].map((bits) =>
  usage(bits),
) as [Buffer, Buffer, Buffer, Buffer];
const authorities = extension('2.5.29.19', sequence(yes));
const isNoAuthority = extension('2.5.29.19', sequence());
const unknown = (isCritical: boolean) => extension('1.2.3.4.5', octets(Buffer.of(1)), isCritical);
const policies = extension('2.5.29.32', sequence(sequence(oid('1.2.3.4.1'))));
const limited = (longest: number) => extension('2.5.29.19', sequence(yes, integer(longest)));
const stamping = ofStamps();

/** Extensions of the certificates of a chain, from the root down to that which signs, and whether openssl accepts it. */
const chains: readonly (readonly [string, readonly (readonly Buffer[])[], boolean])[] = [
  ['nothing besides', [[authorities], stamping], true],
  ['an intermediate', [[authorities], [authorities], stamping], true],
  ['four intermediates', [[authorities], [authorities], [authorities], [authorities], [authorities], stamping], true],
  ['six intermediates', [...Array.from({ length: 7 }, () => [authorities]), stamping], true],
  ['a use of the key for signatures', [[authorities], [...stamping, signing]], true],
  [
    'a use of the key for signatures that is not critical',
    [[authorities], [...stamping, usage('03020780', false)]],
    true,
  ],
  ['a use of the key for something else', [[authorities], [...stamping, encipherment]], false],
  ['a use of the key for signatures and something else', [[authorities], [...stamping, signingAndMore]], false],
  ['a use of the key for certificates', [[authorities], [...stamping, certSign]], false],
  ['a use that is not critical', [[authorities], ofStamps({ isCritical: false })], false],
  ['another use besides', [[authorities], ofStamps({ others: ['1.3.6.1.5.5.7.3.3'] })], false],
  ['an unknown extension', [[authorities], [...stamping, unknown(false)]], true],
  ['an unknown critical extension', [[authorities], [...stamping, unknown(true)]], false],
  ['one of the root', [[authorities, unknown(true)], stamping], false],
  ['one of an intermediate', [[authorities], [authorities, unknown(true)], stamping], false],
  ['critical policies', [[authorities], [authorities, policies], [...stamping, policies]], true],
  ['a root for certificates', [[authorities, certSign], stamping], true],
  ['a root for signatures', [[authorities, signing], stamping], false],
  ['an intermediate for signatures', [[authorities], [authorities, signing], stamping], false],
  ['an intermediate that is not an authority', [[authorities], [isNoAuthority], stamping], false],
  ['an intermediate that does not say that it is one', [[authorities], [], stamping], false],
  ['a root that is not an authority', [[isNoAuthority], stamping], false],
  ['a limit that is kept', [[limited(1)], [limited(0)], stamping], true],
  ['a limit that is not kept', [[limited(0)], [authorities], [authorities], stamping], false],
  ['a limit that is not kept below it', [[authorities], [limited(0)], [authorities], stamping], false],
  ['an authority that signs itself', [[authorities], [authorities, certSign], [authorities, ...stamping]], true],
];

(hasOpenssl ? describe : describe.skip)('what counts here', () => {
  it.each(chains)('of a chain with %s is what counts to openssl', (_, extensions, isAccepted) => {
    const now = new Date();
    const [validFrom, validTo] = [new Date(now.getTime() - 3_600_000), new Date(now.getTime() + 3_600_000)];
    const chain: Issuer[] = [];
    for (const [index, own] of extensions.entries())
      chain.push(
        issueCertificate({
          name: `Number ${index}`,
          ...(index > 0 && { issuer: chain[index - 1] as Issuer }),
          validFrom,
          validTo,
          extensions: own,
        }),
      );
    const [root, signer] = [chain[0], chain.at(-1)];
    if (root === undefined || signer === undefined) throw new Error('a chain has two certificates at least');
    const { bytes, nonce } = stampRequest(sha256);
    const answer = answerStamp(bytes, { signer, intermediates: chain.slice(1, -1), time: now });
    writeFileSync(join(folder, 'query'), bytes);
    writeFileSync(join(folder, 'answer'), answer);
    const counts = (roots: readonly X509Certificate[]) => {
      writeFileSync(join(folder, 'trusted.pem'), roots.map((one) => one.toString()).join(''));
      let isRight = true;
      try {
        checkStamp(answer, { sha256, nonce, roots });
      } catch (error) {
        if (!(error instanceof StampError)) throw error;
        isRight = false;
      }
      return [isRight, openssl('ts -verify -queryfile query -in answer -CAfile trusted.pem').isDone];
    };
    expect(counts([root.certificate])).toEqual([isAccepted, isAccepted]);
    // Whatever is trusted in its place: neither an intermediate nor the certificate that signs is a root.
    for (const { certificate } of chain.slice(1)) expect(counts([certificate])).toEqual([false, false]);
  });

  it.each([
    ['EC, SHA-256', '-algorithm EC -pkeyopt ec_paramgen_curve:P-256', 'sha256', true],
    ['EC, SHA-384, an intermediate', '-algorithm EC -pkeyopt ec_paramgen_curve:P-384', 'sha384', false],
    ['RSA, SHA-512, an intermediate', '-algorithm RSA -pkeyopt rsa_keygen_bits:2048', 'sha512', false],
  ])('of %s, openssl made, and openssl accepts, whichever bit is changed', (_, key, digest, isDirect) => {
    makeAuthority(key, digest, isDirect);
    const { bytes, nonce } = stampRequest(sha256);
    writeFileSync(join(folder, 'query'), bytes);
    const chain = isDirect ? '' : ' -chain between.pem';
    made(`ts -reply -config settings -queryfile query -signer tsa.pem -inkey tsa.key${chain} -out answer`);
    const answer = readFileSync(join(folder, 'answer'));
    const roots = [new X509Certificate(readFileSync(join(folder, 'root.pem')))];
    const { time } = checkStamp(answer, { sha256, nonce, roots });
    let accepted = 0;
    for (let bit = -1; bit < answer.length * 8; bit += 1) {
      const changed = Buffer.from(answer);
      if (bit >= 0) changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      try {
        expect(checkStamp(changed, { sha256, nonce, roots }).time).toEqual(time);
      } catch (error) {
        if (!(error instanceof StampError)) throw error;
        continue;
      }
      accepted += 1;
      writeFileSync(join(folder, 'changed'), changed);
      const { isDone, error } = openssl('ts -verify -queryfile query -in changed -CAfile root.pem');
      if (!isDone) throw new Error(`bit ${bit}: openssl refuses it: ${error}`);
    }
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(40);
    // Once the certificates have ended, openssl has to be told the time.
    const later = Math.floor(time.getTime() / 1000) + 10 * 86_400;
    expect(openssl(`ts -verify -queryfile query -in answer -CAfile root.pem -attime ${later}`).isDone).toBe(false);
  });
});
