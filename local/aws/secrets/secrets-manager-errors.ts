import type { Answer } from '../answer';
import { ServiceError } from '../service-error';
import type { SignatureError, SignatureProblem } from '../signature';
import { json } from './secrets-manager';

const signatureAnswers: Readonly<Record<SignatureProblem, readonly [string, string]>> = {
  missing: ['MissingAuthenticationTokenException', 'Missing Authentication Token'],
  malformed: ['IncompleteSignatureException', 'The Authorization header is malformed.'],
  'wrong-scope': ['InvalidSignatureException', 'Credential should be scoped to a valid region, service and date.'],
  'unknown-key': ['UnrecognizedClientException', 'The security token included in the request is invalid.'],
  'wrong-token': ['UnrecognizedClientException', 'The security token included in the request is invalid.'],
  'no-date': [
    'IncompleteSignatureException',
    "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.",
  ],
  skewed: ['InvalidSignatureException', 'Signature expired or not yet current: '],
  'unsigned-header': ['InvalidSignatureException', 'This header must be part of the signature: '],
  mismatch: [
    'InvalidSignatureException',
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
  ],
};

/** How Secrets Manager answers a request that is not signed by whom it says. */
export function secretsManagerSignatureAnswer({ problem, message }: SignatureError): ServiceError {
  const [code, text] = signatureAnswers[problem];
  const detail = problem === 'skewed' || problem === 'unsigned-header' ? message : '';
  return new ServiceError(400, code, text + detail);
}

/** An error as Secrets Manager writes it. */
export function secretsManagerErrorAnswer(error: ServiceError): Answer {
  const answer = json({ __type: error.code, Message: error.message, ...error.details }, error.status);
  return { ...answer, headers: { ...error.headers, ...answer.headers } };
}
