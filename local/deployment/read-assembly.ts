import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import * as z from 'zod';
import { type Template, UnsupportedTemplateError } from './stack-template';

/** The one stack of a cloud assembly, as `cdk synth` writes it. */
export interface SynthesizedStack {
  readonly stackName: string;
  /** Where the stack is bound to; undefined for an environment-agnostic stack. */
  readonly accountId: string | undefined;
  readonly region: string | undefined;
  readonly template: Template;
  /**
   * Folder of the asset that is uploaded under this object key.
   * @throws UnsupportedTemplateError if there is none
   */
  assetFolder(objectKey: string): string;
}

const assetManifestSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string().optional(), packaging: z.string().optional() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

/**
 * @param assembly the folder that `cdk synth` wrote (`cdk.out`), or what `app.synth()` returned
 * @throws UnsupportedTemplateError if the assembly does not hold exactly one stack
 */
export function readAssembly(assembly: CloudAssembly | string): SynthesizedStack {
  const { stacks, directory } = typeof assembly === 'string' ? new CloudAssembly(assembly) : assembly;
  const [stack, ...others] = stacks;
  if (stack === undefined || others.length > 0)
    throw new UnsupportedTemplateError(
      `Cannot deploy ${directory} locally: expected one stack, found ${stacks.map(({ stackName }) => stackName).join(', ') || 'none'}.`,
    );
  const { account, region } = stack.environment;
  return {
    stackName: stack.stackName,
    accountId: account.startsWith('unknown') ? undefined : account,
    region: region.startsWith('unknown') ? undefined : region,
    template: JSON.parse(readFileSync(stack.templateFullPath, 'utf8')) as Template,
    assetFolder: (objectKey) => {
      const manifest = assetManifestSchema.parse(
        JSON.parse(readFileSync(join(directory, `${stack.id}.assets.json`), 'utf8')),
      );
      const asset = Object.values(manifest.files).find(({ destinations }) =>
        Object.values(destinations).some((destination) => destination.objectKey === objectKey),
      );
      if (asset?.source.path === undefined || asset.source.packaging !== 'zip')
        throw new UnsupportedTemplateError(`Cannot find the function's code: no folder is uploaded as ${objectKey}.`);
      return join(directory, asset.source.path);
    },
  };
}
