/** What moto 5.2 does otherwise than the service, by the check that finds it. */
const unchecked = {
  signatures: 'verifies no signature, token or time',
  policies: 'evaluates no policy unless it is set up for it, and of a bucket policy no condition',
  checksums: 'stores a body whatever its checksums, hashes and announced lengths say',
};

export const motoDifferences: Readonly<Record<string, string>> = {
  'refuses any other If-None-Match in a write': 'ignores other values',
  'takes a key of 1024 bytes, and none longer': 'counts no bytes',
  'takes user metadata of 2 KB, and no more': 'has another limit',

  'refuses a body that does not have the checksum in its header': unchecked.checksums,
  'refuses a checksum of the wrong form': unchecked.checksums,
  'refuses a checksum that was announced and not sent': unchecked.checksums,
  'refuses a body that does not have the hash that was signed': unchecked.checksums,
  'writes nothing of a body that is shorter than its Content-Length': 'answers 400 without an error code',
  'does not ask for a body that it will refuse': 'asks for every body',
  'refuses a body of unknown length': 'takes a body of unknown length',

  'gives at most a thousand keys in a page': 'repeats the number it was asked for',
  'refuses a negative number of keys, and a token it did not give': 'takes both',

  'refuses a request that is not signed': unchecked.signatures,
  'refuses a wrong signature': unchecked.signatures,
  'refuses a header that was changed after it was signed': unchecked.signatures,
  'refuses a signature made with another secret key': unchecked.signatures,
  'refuses an unknown access key': unchecked.signatures,
  'refuses a wrong session token': unchecked.signatures,
  'refuses an x-amz- header that was not signed': unchecked.signatures,
  'refuses a request that was signed more than fifteen minutes ago, or ahead': unchecked.signatures,
  'refuses a signature for another region or service': unchecked.signatures,
  'refuses an authorization header it cannot read': unchecked.signatures,
  'refuses an unknown word in place of the payload hash': unchecked.signatures,
  'refuses a request for Secrets Manager whose body was changed after it was signed': unchecked.signatures,

  'denies a role what its policy does not allow, and says which policy it lacks': unchecked.policies,
  'hides from a role that may not list whether an object is there': unchecked.policies,
  'denies what the bucket policy denies, even to a role that may do everything': unchecked.policies,
  'denies a secret to a role whose policy does not name it': unchecked.policies,
  'refuses a caller without the permission to sign or to get the public key': unchecked.policies,
  'refuses a caller without the permission to publish': unchecked.policies,

  'names the kind of key and its ARN with the public key': 'leaves out the kind, and names the key by its id',
  'refuses a subject with a line break or outside of ASCII': 'counts its characters only',
  'refuses an empty message': 'takes an empty message',

  'answers ResourceNotFoundException for an absent secret and for one without a value': 'answers 404, the service 400',
  'refuses an empty secret name': 'looks for a secret without a name',
};
