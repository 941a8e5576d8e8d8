import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configJsonSchema } from './config-json-schema';
import { projectRoot } from './function-bundle';

/** `npm run schema`: to be run after a change of the configuration's schema. */
writeFileSync(join(projectRoot, 'collector.schema.json'), configJsonSchema());
