/** What the context of the CDK command line chooses. */
export interface ContextChoice {
  /** Path of the configuration file. */
  readonly config: string;
  /** Whether the synthesis is for a deployment: `npm run deploy` passes `-c deploy=true`. */
  readonly deploys: boolean;
}

/** The context has a key that nobody reads: a misspelt one would silently choose the default configuration. */
export class ContextError extends Error {
  override readonly name = 'ContextError';

  constructor(keys: readonly string[]) {
    super(
      `The context cannot be used: received ${keys.map((key) => JSON.stringify(key)).join(', ')}, expected "config". ` +
        'Write -c config=FILE to choose a configuration file. ' +
        'Context comes from -c, cdk.json, cdk.context.json and .cdk.json in your home folder.',
    );
  }
}

/** Keys of the command line itself that have neither a colon nor a slash. */
const commandLineKeys = ['acknowledged-issue-numbers', 'cli-telemetry'];

/**
 * Reads the keys of this app. Keys of CDK have a colon or a slash: `@aws-cdk/…`, `aws:cdk:…`, `vpc-provider:…`.
 * @throws ContextError naming keys that nobody reads
 */
export function readContext(context: Readonly<Record<string, unknown>>): ContextChoice {
  const { config = 'collector.json', deploy, ...others } = context;
  const unread = Object.keys(others).filter((key) => !/[:/]/.test(key) && !commandLineKeys.includes(key));
  if (unread.length > 0) throw new ContextError(unread);
  return { config: String(config), deploys: deploy === true || deploy === 'true' };
}
