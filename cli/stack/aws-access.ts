import { regionHint } from '../../archive/read';
import { shellQuoted } from '../terminal/format';

/** AWS refused or could not be asked. The message says what to do. */
export class AwsAccessError extends Error {
  override readonly name = 'AwsAccessError';
}

/** Where a stack is looked for. */
export interface StackName {
  readonly name: string;
  /** Left out: the region of the environment or of the profile. */
  readonly region?: string | undefined;
}

/** Advice by the name of the SDK's error, or by its message where it has none. */
const advice: readonly (readonly [errors: RegExp, advice: string])[] = [
  [
    /^(CredentialsProviderError|UnrecognizedClientException|InvalidClientTokenId|SignatureDoesNotMatch)$/,
    'no valid credentials were found; run `aws configure`, or set AWS_PROFILE',
  ],
  [
    /^(ExpiredToken|ExpiredTokenException|TokenRefreshRequired)$/,
    'the credentials have expired; log in again, for example with `aws sso login`',
  ],
  [/^(AccessDenied|AccessDeniedException)$/, 'the credentials may not do this; use a role that may'],
  [
    /^Region is missing$/,
    'no region is set; add --region, or set AWS_REGION. The local deployment is not in AWS: npm start runs it',
  ],
];

/**
 * Does something with AWS.
 * @param doing what is done, as a noun phrase: `Reading the stack x`
 * @throws AwsAccessError for whatever the SDK throws
 */
export async function withAws<Result>(doing: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AwsAccessError) throw error;
    const { name, message } = error as Error;
    const known =
      advice.find(([errors]) => errors.test(name) || errors.test(message))?.[1] ?? (await regionHint(error));
    const reason = known === undefined ? message : `${known} (${name}: ${message})`;
    throw new AwsAccessError(`${doing} failed: ${reason}`, { cause: error });
  }
}

/** The options that name a stack in a command that a person may paste. */
export function stackArguments({ name, region }: StackName): string {
  return `--stack ${shellQuoted(name)}${region === undefined ? '' : ` --region ${shellQuoted(region)}`}`;
}
