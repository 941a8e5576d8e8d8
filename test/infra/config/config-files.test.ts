import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Certificates, readCertificates } from '../../../infra/config/config-files';
import { newFolder } from '../../support/new-folder';
import { type TestCertificates, testCertificates } from '../../support/tls';

const now = new Date();
let certificates: TestCertificates;
const file = join(newFolder(), 'ca.pem');

beforeAll(async () => {
  certificates = testCertificates();
});

function read(content: string, time = now): Certificates {
  writeFileSync(file, content);
  return readCertificates(file, time);
}

describe('a file of certificates', () => {
  it('keeps its certificates and loses its comments', () => {
    expect(read(`# ours\n${certificates.ca}# theirs\n${certificates.otherCa}`)).toEqual({
      pem: certificates.ca + certificates.otherCa,
    });
  });

  it.each<[string, (all: TestCertificates) => string, RegExp]>([
    ['nothing', () => '', /holds no PEM certificate/],
    ['something else', () => 'hello', /holds no PEM certificate/],
    ['a private key beside the certificate', ({ ca, server }) => ca + server.key, /holds a private key/],
    ['an expired certificate', ({ expired }) => expired.cert, /certificate 1 of ca\.pem \(.*\) expired on/],
    ['an expired certificate after a good one', ({ ca, expired }) => ca + expired.cert, /certificate 2 of/],
    ['a damaged certificate', ({ ca }) => ca.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA'), /cannot be parsed/],
  ])('is refused with %s in it', (_, contentOf, reason) => {
    expect(read(contentOf(certificates))).toEqual({ fault: expect.stringMatching(reason) });
  });

  it('is checked against the time at which it is read', () => {
    const inTenYears = new Date(now.getTime() + 10 * 365 * 24 * 3600 * 1000);
    expect(read(certificates.ca, inTenYears)).toEqual({ fault: expect.stringContaining('expired on') });
  });
});
