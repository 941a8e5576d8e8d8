import { type SandboxAccount, SandboxError } from './sandbox-account';
import { serviceStack } from './service-stack';

/** Entry of the CDK command line for {@link serviceStack}. The key is in the environment: arguments are seen by everybody. */
function main(): void {
  const { SANDBOX_NAME: name, SANDBOX_ACCOUNT: account, SANDBOX_REGION: region, SANDBOX_KEY: key } = process.env;
  if (name === undefined || account === undefined || region === undefined || key === undefined)
    throw new SandboxError('The stack of the demo service is deployed by npm run sandbox alone');
  const env: SandboxAccount = { account, region };
  // The command line reads the assembly, which the app writes at its end.
  serviceStack(name, env, key);
}

main();
