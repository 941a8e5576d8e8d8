import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
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
  const app = new App({
    analyticsReporting: false,
    outdir,
    context: { ...projectContext(), ...context },
    builtinCloudFormationValidation: validate,
  });
  return { app, stack: new CollectorStack(app, config) };
}

/** Makes the assembly without the CLI. */
export function synthesize(props: CollectorAppProps): CloudAssembly {
  return createApp(props).app.synth();
}

function projectContext(): Record<string, unknown> {
  const { context } = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8'));
  return context;
}
