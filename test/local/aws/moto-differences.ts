/** What moto 5.2 does otherwise than the service, by the beginning of the checks that find it. */
export const motoDifferences: readonly string[] = [
  // It counts no bytes.
  'takes a key of 1024 bytes',
  'takes user metadata of 2 KB',
  // It stores a body whatever its checksums, hashes and announced lengths say, and asks for every body.
  'refuses a body',
  'writes nothing of a body',
  'does not ask for a body',
  'refuses a negative number of keys',
  // It verifies no signature, token or time.
  'refuses a header',
  'refuses a request',
  'refuses a signature',
  'refuses a wrong session token',
  'refuses an unknown',
  'refuses an x-amz- header',
  // It evaluates no policy unless it is set up for it, and of a bucket policy no condition.
  'denies',
  'hides from a role',
  'refuses a caller without',
  'refuses a subject',
  'refuses an empty message',
  // It answers 404, the service 400.
  'answers ResourceNotFoundException',
];
