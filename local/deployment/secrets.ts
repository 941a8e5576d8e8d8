import * as z from 'zod';
import { environmentNames } from '../../lambda/stack-contract';
import type { LocalSecret } from '../aws/store/secret-store';
import type { FunctionDefinition } from './function-definition';
import type { StackTemplate } from './stack-template';

const secretSchema = z.object({ SecretString: z.string().optional() });

/**
 * The stack's secrets, and the one that the function is told about: a stack may use a secret that exists beside it.
 * @param apiKeySecretValue value of the secret that the function is told about; undefined: as in the template
 */
export function readSecrets(
  stack: StackTemplate,
  { environment }: FunctionDefinition,
  apiKeySecretValue: string | undefined,
): LocalSecret[] {
  const { accountId, region } = stack.location;
  const told = environment[environmentNames.apiKeySecret];
  const own = stack.resourcesOf('AWS::SecretsManager::Secret').map((resource) => {
    const arn = resource.identity.ref;
    const name = arn
      .split(':')
      .slice(6)
      .join(':')
      .replace(/-[^-]{6}$/, '');
    return { name, arn, value: resource.read(secretSchema).SecretString };
  });
  const known = told === undefined || own.some(({ name, arn }) => told === name || told === arn);
  const foreign = known ? [] : [foreignSecret(told, `arn:aws:secretsmanager:${region}:${accountId}:secret`)];
  return [...own, ...foreign].map(({ name, arn, value }) => {
    const initial = (told === name || told === arn ? apiKeySecretValue : undefined) ?? value;
    return { name, arn, ...(initial !== undefined && { value: initial }) };
  });
}

function foreignSecret(told: string, prefix: string): { name: string; arn: string; value?: string } {
  if (!told.startsWith('arn:')) return { name: told, arn: `${prefix}:${told}-Ab12Cd` };
  return {
    name: told
      .split(':')
      .slice(6)
      .join(':')
      .replace(/-[^-]{6}$/, ''),
    arn: told,
  };
}
