import * as z from 'zod';
import { configSchema } from './config-schema';

/** The configuration's schema as editors read it: what collector.schema.json holds. */
export function configJsonSchema(): string {
  const schema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' });
  return `${JSON.stringify({ ...schema, title: 'Configuration of the cluster log collector' }, undefined, 2)}\n`;
}
