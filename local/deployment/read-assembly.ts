import { join } from 'node:path';
import { AssetManifestArtifact, type CloudAssembly } from 'aws-cdk-lib/cx-api';
import type { StackLocation } from './resource-identities';
import { type Template, UnsupportedTemplateError } from './stack-template';

/**
 * The one stack of a cloud assembly, as `cdk synth` writes it.
 * @param assembly what `app.synth()` returned
 * @throws UnsupportedTemplateError if the assembly does not hold exactly one stack
 */
export function readAssembly({ stacks, directory, artifacts }: CloudAssembly) {
  const [stack, ...others] = stacks;
  if (stack === undefined || others.length > 0)
    throw new UnsupportedTemplateError(
      `Cannot deploy ${directory} locally: expected one stack, found ${stacks.map(({ stackName }) => stackName).join(', ') || 'none'}.`,
    );
  const { account, region } = stack.environment;
  // An environment-agnostic stack is bound to a made-up place.
  const location: StackLocation = {
    stackName: stack.stackName,
    accountId: account.startsWith('unknown') ? '111122223333' : account,
    region: region.startsWith('unknown') ? 'eu-central-1' : region,
  };
  return {
    location,
    template: stack.template as Template,
    /**
     * Folder of the asset that is uploaded under this object key.
     * @throws UnsupportedTemplateError if no asset has this key
     */
    assetFolder: (objectKey: string): string => {
      const files = artifacts
        .filter((artifact) => AssetManifestArtifact.isAssetManifestArtifact(artifact))
        .flatMap(({ contents }) => Object.values(contents.files ?? {}));
      const asset = files.find(({ destinations }) =>
        Object.values(destinations).some((destination) => destination.objectKey === objectKey),
      );
      if (asset?.source.path === undefined || asset.source.packaging !== 'zip')
        throw new UnsupportedTemplateError(`Cannot find the function's code: no folder is uploaded as ${objectKey}.`);
      return join(directory, asset.source.path);
    },
  };
}

export type SynthesizedStack = ReturnType<typeof readAssembly>;
