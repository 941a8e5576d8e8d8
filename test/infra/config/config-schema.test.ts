import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { configJsonSchema } from '../../../infra/config/config-schema';
import { exampleJson } from '../example-config';

const shipped = readFileSync(join(__dirname, '..', '..', '..', 'collector.schema.json'), 'utf8');
const validate = new Ajv({ formats: { email: true, date: true, 'date-time': true } }).compile(JSON.parse(shipped));

describe('collector.schema.json', () => {
  it('is what the code checks by (npm run schema writes it)', () => {
    expect(shipped).toBe(configJsonSchema());
  });

  it('accepts the shipped example, which names it', () => {
    validate(exampleJson());
    expect(validate.errors).toBeNull();
    expect(exampleJson().$schema).toBe('./collector.schema.json');
  });

  it.each([
    ['an unknown member', { extra: 1 }],
    ['an unknown member of a cluster', { clusters: [{ uid: 'a', extra: 1 }] }],
    ['no clusters', { clusters: [] }],
    ['an unknown resource', { clusters: [{ uid: 'a', resources: ['x'] }] }],
    ['a file of clusters without a path', { clusters: { file: '' } }],
  ])('rejects %s', (_, changes) => {
    expect(validate({ ...exampleJson(), ...changes })).toBe(false);
  });

  it('says "is not a" where it says what something is not', () => {
    expect(shipped.match(/\b(is|are|was|were) (no|none)\b.{0,20}/g)).toBeNull();
  });

  it('describes every member', () => {
    const undescribed: string[] = [];
    walk(JSON.parse(shipped), '');
    expect(undescribed).toEqual([]);

    function walk(
      schema: { properties?: Record<string, { description?: string }>; [key: string]: unknown },
      path: string,
    ) {
      for (const [name, member] of Object.entries(schema.properties ?? {})) {
        if (member.description === undefined) undescribed.push(`${path}.${name}`);
        walk(member as never, `${path}.${name}`);
      }
      for (const part of [schema.items, ...((schema.anyOf as unknown[]) ?? [])])
        if (part) walk(part as never, `${path}[]`);
    }
  });
});
