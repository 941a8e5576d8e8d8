import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** A file of certificates cannot be used. */
export class CaCertificateError extends Error {
  override readonly name = 'CaCertificateError';
}

/**
 * Reads a PEM file that holds certificates and nothing secret.
 * @returns the certificates as PEM text
 * @throws CaCertificateError whose message says what was found
 */
export function readCaCertificate(path: string, now: Date): string {
  const pem = readText(path);
  if (/PRIVATE KEY-----/.test(pem))
    throw new CaCertificateError(`${basename(path)} holds a private key, which would be deployed with the function`);
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new CaCertificateError(`${basename(path)} holds no PEM certificate`);
  for (const [index, block] of blocks.entries()) {
    const certificate = parse(block, `certificate ${index + 1} of ${basename(path)}`);
    if (new Date(certificate.validTo) < now)
      throw new CaCertificateError(
        `certificate ${index + 1} of ${basename(path)} (${certificate.subject.replace(/\n/g, ', ')}) expired on ${certificate.validTo}`,
      );
  }
  return `${blocks.join('\n')}\n`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CaCertificateError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? error}`, {
      cause: error,
    });
  }
}

function parse(block: string, what: string): X509Certificate {
  try {
    return new X509Certificate(block);
  } catch (error) {
    throw new CaCertificateError(`${what} cannot be parsed`, { cause: error });
  }
}
