import { findCommand } from '../test/local/aws/moto-server';
import { deployIntoMoto } from './deploy-into-moto';

/** `npm run check:moto`: the real command line deploys, updates and destroys the real stack, in moto's account. */
async function main(): Promise<void> {
  const command = findCommand('moto_server');
  if (command === undefined) return console.log('skipped: moto_server is not in the PATH (pip install "moto[server]")');
  await deployIntoMoto(command);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
