import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '../../archive/format/seal-file';
import { damageOf, hasPython, readFolders } from '../cli/export/second-reader';
import { runCollector } from '../cli/run-collector';
import type { TemplateJson } from '../infra/example-stack';
import { losses, replacingProperties, statefulOf } from '../infra/template-pairs';
import {
  configurations,
  type Expected,
  expectedFile,
  kept,
  keptTemplate,
  planOf,
  publicKeyFile,
  runAndAudit,
  saidOf,
  synthesise,
  unpackArchive,
} from './fixtures';

/** Of SHA256SUMS: whoever changes what is kept of 1.0 breaks the promise that an upgrade from it is possible. */
const frozen = '20b5c5945acc0b8be0576f274bcce0d4650603d88c3c2fb4cfc4f711849a8a89';

const templates = configurations.map((name) => ({ name, before: keptTemplate(name), after: synthesise(name) }));
const typesOf = ({ Resources }: TemplateJson) => Object.values(Resources).map(({ Type }) => Type);
const replacing = replacingProperties([...new Set(templates.flatMap(({ after }) => typesOf(after)))]);

const { plans, saidAt, said }: Expected = JSON.parse(readFileSync(expectedFile, 'utf8'));

it('what is kept of 1.0 is what was frozen', () => {
  const sums = readFileSync(join(kept, 'SHA256SUMS'));
  expect(sha256Of(sums)).toBe(frozen);
  const files = readdirSync(kept).filter((name) => name !== 'SHA256SUMS');
  const lines = files.sort().map((name) => `${sha256Of(readFileSync(join(kept, name)))}  ${name}\n`);
  expect(lines.join('')).toBe(sums.toString());
});

describe.each(templates)('a configuration of 1.0, $name', ({ name, before, after }) => {
  it('gives the functions what it gave them; a later version may only add to it', () => {
    expect(planOf(name)).toMatchObject(plans[name]);
  });

  it('keeps every resource that holds something, and replaces none', () => {
    const [old, now] = [statefulOf(before), statefulOf(after)];
    expect(old.size).toBeGreaterThan(5);
    expect([...old.keys()].filter((id) => !now.has(id))).toEqual([]);
    expect(losses([old, now], replacing)).toEqual([]);
  });

  it('changes nothing that CloudFormation would refuse', () => {
    expect(namedOf(before).size).toBeGreaterThan(5);
    expect(refusals(before, after)).toEqual([]);
  });

  it('has the outputs that it had, of the same resources', () => {
    const { Outputs: old = {} } = before;
    expect(Object.keys(after.Outputs ?? {})).toEqual(expect.arrayContaining(Object.keys(old)));
    const references = Object.entries(old).filter(([, { Value }]) =>
      /^{"(Ref|Fn::GetAtt)"/.test(JSON.stringify(Value)),
    );
    expect(references.length).toBeGreaterThan(0);
    const now = references.map(([output]) => [output, after.Outputs?.[output]?.Value]);
    expect(now).toEqual(references.map(([output, { Value }]) => [output, Value]));
  });
});

describe('a refusal', () => {
  const alarm = { Type: 'AWS::CloudWatch::Alarm', Properties: { AlarmName: 'a' } };
  const alias = { Type: 'AWS::KMS::Alias', Properties: { AliasName: 'alias/a', TargetKeyId: '1' } };
  const bucket = { Type: 'AWS::S3::Bucket', Properties: { BucketName: 'b' } };
  const locked = { ...bucket, Properties: { ...bucket.Properties, ObjectLockEnabled: true } };

  it.each<[string, TemplateJson['Resources'], TemplateJson['Resources'], string[]]>([
    [
      'a name that goes to another resource',
      { A: alarm },
      { B: alarm },
      ['AWS::CloudWatch::Alarm "a" goes from A to B'],
    ],
    [
      'a resource that would be replaced under its name',
      { S: bucket },
      { S: locked },
      ['S keeps its name, and ObjectLockEnabled changes'],
    ],
    ['not another name', { A: alarm }, { A: { ...alarm, Properties: { AlarmName: 'b' } } }, []],
    [
      'not a change that replaces nothing',
      { A: alias },
      { A: { ...alias, Properties: { ...alias.Properties, TargetKeyId: '2' } } },
      [],
    ],
  ])('is noticed: %s', (_, old, now, expected) => {
    expect(refusals({ Resources: old }, { Resources: now })).toEqual(expected);
  });
});

describe('the archive of 1.0', () => {
  const archive = unpackArchive();

  it('is what it was: commands end as they did, and print what they printed; a later version may only add members', async () => {
    const now = await saidOf(archive, new Date(saidAt));
    expect(now).toMatchObject(said);
    expect(said).toMatchObject({ verify: { code: 0, out: { ok: true, findings: [], sealed: { seals: 2 } } } });
  });

  (hasPython ? it : it.skip)('is sound to the second reader', () => {
    expect(readFolders([archive]).map(damageOf)).toEqual([[]]);
  });

  it('takes a further run and a further seal, which every reader joins to the earlier ones', async () => {
    const folder = unpackArchive();
    const started = await runAndAudit(folder, ['beta', { uid: 'Ölfeld/3', optional: true }, 'epsilon', 'zeta']);
    expect(started).toMatchObject({ code: 0, err: '' });
    const json = async (command: string, ...args: string[]) =>
      JSON.parse((await runCollector([command, '--archive', folder, '--json', ...args], { now: new Date() })).out);
    expect(await json('verify', '--public-key', publicKeyFile)).toMatchObject({ ok: true, sealed: { seals: 3 } });
    const [further] = await json('runs', '--last', '1');
    expect(further).toMatchObject({ status: 'complete', clusters: { joined: ['zeta'], leaving: ['alpha'] } });
    if (hasPython) expect(readFolders([folder]).map(damageOf)).toEqual([[]]);
  });
});

/** The resources with a chosen name, by type and name. */
function namedOf({ Resources }: TemplateJson): ReadonlyMap<string, string> {
  const names = Object.entries(Resources).flatMap(([id, { Type, Properties = {} }]) => {
    const chosen = Properties[`${Type.split('::')[2]}Name`] ?? Properties.Name;
    return chosen === undefined ? [] : [[`${Type} ${JSON.stringify(chosen)}`, id] as const];
  });
  return new Map(names);
}

/**
 * Why CloudFormation would refuse an update: it creates what is new before it deletes what is old, and two resources cannot have
 * one name.
 */
function refusals(before: TemplateJson, after: TemplateJson): string[] {
  const [old, now] = [namedOf(before), namedOf(after)];
  return [...old].flatMap(([name, id]) => {
    const other = now.get(name);
    if (other === undefined) return [];
    if (other !== id) return [`${name} goes from ${id} to ${other}`];
    const [one, two] = [before, after].map(({ Resources }) => Resources[id]);
    const partOf = (resource: typeof one, property: string) => JSON.stringify(resource?.Properties[property]);
    const changed = (replacing.get(one?.Type ?? '') ?? []).filter(
      (property) => partOf(one, property) !== partOf(two, property),
    );
    return changed.map((property) => `${id} keeps its name, and ${property} changes`);
  });
}
