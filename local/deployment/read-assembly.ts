import type { CloudAssembly } from 'aws-cdk-lib/cx-api';
import type { StackLocation } from './resource-identities';
import { type Template, UnsupportedTemplateError } from './stack-template';

/**
 * The one stack of a cloud assembly, as `cdk synth` writes it.
 * @param assembly what `app.synth()` returned
 * @throws UnsupportedTemplateError if the assembly does not hold exactly one stack
 */
export function readAssembly({ stacks, directory }: CloudAssembly) {
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
  return { location, template: stack.template as Template };
}
