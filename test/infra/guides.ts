import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const docs = join(__dirname, '..', '..', 'docs');

export const operations = readFileSync(join(docs, 'operations.md'), 'utf8');
export const alarmsGuide = readFileSync(join(docs, 'alarms.md'), 'utf8');
export const background = readFileSync(join(docs, 'background.md'), 'utf8');
export const keepingGuide = readFileSync(join(docs, 'keeping.md'), 'utf8');
export const pipelineGuide = readFileSync(join(docs, 'pipeline.md'), 'utf8');
