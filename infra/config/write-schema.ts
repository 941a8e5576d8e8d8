import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configJsonSchema } from './config-schema';

/** `npm run schema`: run it after a change of the configuration's schema. */
writeFileSync(join(__dirname, '..', '..', 'collector.schema.json'), configJsonSchema());
