import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Stack, Stage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Configuration } from '../archive/format/configuration';
import type { AuditPlan } from '../archive/format/plan';
import { bundle } from './function-bundle';

/** What a function reads as JSON from beside its code. */
export interface DataFile {
  readonly name: string;
  readonly content: Configuration | AuditPlan;
}

/**
 * A function's code: one file, bundled by esbuild, and its data file, if it has one, beside it. The list of clusters may be
 * megabytes, and environment variables end at 4 KB. A changed list changes the asset, and so a deployment takes effect.
 * @param entry file in lambda/ that exports `handler`, in the function's own folder
 */
export function functionCode(scope: Construct, entry: string, data?: DataFile): Code {
  const { artifactId, bundlingRequired } = Stack.of(scope);
  const folder = join(Stage.of(scope)?.outdir ?? '.', `${artifactId}.${scope.node.addr}`);
  mkdirSync(folder, { recursive: true });
  if (bundlingRequired)
    for (const { path, contents } of bundle(entry)) writeFileSync(join(folder, basename(path)), contents);
  if (data !== undefined) writeFileSync(join(folder, data.name), JSON.stringify(data.content));
  return Code.fromAsset(folder);
}
