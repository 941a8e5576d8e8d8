import { spawnSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkStamp, StampError } from '../../../../archive/prove/stamps/check-stamp';
import { stampRequest } from '../../../../archive/prove/stamps/request-stamp';
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

(hasOpenssl ? describe : describe.skip)('what counts here', () => {
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
