import { createHash, sign } from 'node:crypto';
import { DerReader, derTag } from '../../archive/format/der';
import { issuerAndSerialOf } from '../../archive/prove';
import { ecdsaWithSha256, type Issuer } from './issue-certificate';
import { context, generalizedTime, integer, octets, oid, sequence, set } from './write-der';

const sha256Algorithm = sequence(oid('2.16.840.1.101.3.4.2.1'));
const tstInfo = oid('1.2.840.113549.1.9.16.1.4');

export interface StampAnswerOptions {
  readonly signer: Issuer;
  /** Certificates between that of the signer and the root. */
  readonly intermediates?: readonly Issuer[];
  readonly time: Date;
}

/** Answers a TimeStampReq with a TimeStampResp (RFC 3161). @throws DerError if the request cannot be read */
export function answerStamp(request: Buffer, { signer, intermediates = [], time }: StampAnswerOptions): Buffer {
  const query = new DerReader(request, 'the request').within('TimeStampReq');
  query.take(derTag.integer);
  const imprint = query.take(derTag.sequence).whole;
  const nonce = query.take(derTag.integer).whole;
  const info = sequence(integer(1), oid('1.2.3.4.1'), imprint, integer(1), generalizedTime(time), nonce);
  const { certificate, key } = signer;
  const attributes = [
    attribute('1.2.840.113549.1.9.3', tstInfo),
    attribute('1.2.840.113549.1.9.4', octets(sha256(info))),
    attribute('1.2.840.113549.1.9.16.2.47', sequence(sequence(sequence(octets(sha256(certificate.raw)))))),
  ].sort(Buffer.compare);
  const signed = set(...attributes);
  const signerInfo = sequence(
    integer(1),
    sequence(issuerAndSerialOf(certificate)),
    sha256Algorithm,
    context(0, ...attributes),
    ecdsaWithSha256,
    octets(sign('sha256', signed, key)),
  );
  const signedData = sequence(
    integer(3),
    set(sha256Algorithm),
    sequence(tstInfo, context(0, octets(info))),
    context(0, ...[signer, ...intermediates].map((one) => one.certificate.raw)),
    set(signerInfo),
  );
  return sequence(sequence(integer(0)), sequence(oid('1.2.840.113549.1.7.2'), context(0, signedData)));
}

function attribute(type: string, value: Buffer): Buffer {
  return sequence(oid(type), set(value));
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
