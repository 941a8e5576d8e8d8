import { deployIntoMoto } from '../../checks/deploy-into-moto';
import { findCommand } from '../local/aws/moto-server';

const command = findCommand('moto_server');

(command === undefined ? test.skip : test)(
  'the stack deploys, collects, updates and leaves its archive behind (skipped where moto_server is not in the PATH)',
  () => deployIntoMoto(command ?? ''),
  300_000,
);
