import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, BOOTSTRAP_QUALIFIER_CONTEXT, DefaultStackSynthesizer } from 'aws-cdk-lib';
import { DISABLE_CREATION_STACK_TRACES } from 'aws-cdk-lib/cx-api';
import { CollectorStack } from './collector-stack';
import type { CollectorConfig } from './config/config';
import { projectRoot } from './function-bundle';

export interface CollectorAppProps {
  readonly config: CollectorConfig;
  /** Where the assembly is written; left out: where the CLI says, or a temporary folder. */
  readonly outdir?: string;
  /** Added to the context of cdk.json. */
  readonly context?: Readonly<Record<string, unknown>>;
  /**
   * Whether CDK checks the template against CloudFormation's rules; left out: true. The check takes seconds, which a
   * local deployment saves.
   */
  readonly validate?: boolean;
}

/**
 * The app with its one stack, ready for `synth()`. It reads the feature flags from cdk.json, so that a synthesis without
 * the command line gives the same template.
 */
export function createApp(props: CollectorAppProps): { app: App; stack: CollectorStack } {
  const { config, outdir, context, validate = true } = props;
  const project = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8'));
  const app = new App({
    analyticsReporting: false,
    outdir,
    // Nobody reads the traces of constructs, and they take time. In cdk.json the command line would warn of the key.
    context: { ...project.context, [DISABLE_CREATION_STACK_TRACES]: true, ...context },
    builtinCloudFormationValidation: validate,
  });
  return { app, stack: new CollectorStack(app, config) };
}

/** What the context of the CDK command line chooses. */
export interface ContextChoice {
  /** Path of the configuration file. */
  readonly config: string;
  /** Whether the synthesis is for a deployment: `npm run deploy` passes `-c deploy=true`. */
  readonly deploys: boolean;
  /** Whether a deployment may keep what is archived for a shorter time than before: `-c shortenRetention=true`. */
  readonly shortensRetention: boolean;
  /** Part of the names of the roles that `cdk bootstrap` made: `@aws-cdk/core:bootstrapQualifier`. */
  readonly qualifier: string;
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
  const { config = 'collector.json', deploy, shortenRetention, ...others } = context;
  const unread = Object.keys(others).filter((key) => !/[:/]/.test(key) && !commandLineKeys.includes(key));
  if (unread.length > 0) throw new ContextError(unread);
  const isTrue = (value: unknown) => value === true || value === 'true';
  const qualifier = others[BOOTSTRAP_QUALIFIER_CONTEXT] ?? DefaultStackSynthesizer.DEFAULT_QUALIFIER;
  return {
    config: String(config),
    deploys: isTrue(deploy),
    shortensRetention: isTrue(shortenRetention),
    qualifier: String(qualifier),
  };
}
