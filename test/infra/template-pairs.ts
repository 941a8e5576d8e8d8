import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { type Resource, type TemplateJson, templateOf } from './example-stack';

/** Types whose resources hold something, or hold what people subscribed to or look for. */
const statefulTypes = [
  'AWS::S3::Bucket',
  'AWS::SecretsManager::Secret',
  'AWS::KMS::Key',
  'AWS::SNS::Topic',
  'AWS::Logs::LogGroup',
  'AWS::SQS::Queue',
];

/** Every stateful resource that a stack may have. A resource under another logical id would be another resource. */
export const knownIds = [
  'AlertsKey9E1197AF',
  'AlertsTopicCF7C81C9',
  'ApiKeySecret51CD6EF2',
  'ArchiveAccessLogs31F4F9D7',
  'ArchiveBucket49F1AC64',
  'ArchiveKey3EF5EDE5',
  'AuditLogsA35F3E1F',
  'AuditSigningKey58F79527',
  'CollectorLogs2B7E6569',
  'DeadLettersBBF8BAAB',
  'FailureMessagesLogs5C74B41D',
  'InformKey6AA0F999',
  'InformTopic587C2FEE',
];

/** Goes away with the option that asked for it, and with it what it holds; all others are retained. */
const emptyOnes = /^(Alerts|Inform|AuditLogs)/;

const databaseSchema = z.object({
  schema: z.object({
    resource: z.object({
      entities: z.array(
        z.object({
          cloudFormationType: z.string(),
          properties: z.record(z.string(), z.object({ causesReplacement: z.string().optional() })),
        }),
      ),
    }),
  }),
});

/**
 * The properties whose change makes CloudFormation replace a resource, by type: from the database that ships with aws-cdk.
 * @param types left out: those that hold something
 */
export function replacingProperties(types: readonly string[] = statefulTypes): ReadonlyMap<string, readonly string[]> {
  const file = join(__dirname, '..', '..', 'node_modules', 'aws-cdk', 'db.json.gz');
  const { schema } = databaseSchema.parse(JSON.parse(gunzipSync(readFileSync(file)).toString()));
  const all = new Map(
    schema.resource.entities.map(({ cloudFormationType, properties }) => {
      const replacing = Object.entries(properties).filter(
        ([, { causesReplacement = 'no' }]) => causesReplacement !== 'no',
      );
      return [cloudFormationType, replacing.map(([name]) => name)];
    }),
  );
  return new Map(types.map((type) => [type, all.get(type) ?? []]));
}

/** The stateful resources of a template, by logical id. */
export type Stateful = ReadonlyMap<string, Resource>;

/** The stateful resources of the shipped configuration with other members. */
export function statefulWith(changes: Record<string, unknown>): Stateful {
  return statefulOf(templateOf(changes));
}

export function statefulOf({ Resources }: TemplateJson): Stateful {
  return new Map(Object.entries(Resources).filter(([, { Type }]) => statefulTypes.includes(Type)));
}

/**
 * What updates between any two of the templates would lose, one line each. To have the same value is transitive, so no pair
 * has to be looked at: what has one value in all templates changes between none.
 */
export function losses(templates: readonly Stateful[], replacing: ReadonlyMap<string, readonly string[]>): string[] {
  const ids = new Set(templates.flatMap((template) => [...template.keys()]));
  return [...ids].flatMap((id) => {
    const versions = templates.flatMap((template) => template.get(id) ?? []);
    const valuesOf = (partOf: (resource: Resource) => unknown) =>
      new Set(versions.map((resource) => JSON.stringify(partOf(resource)))).size;
    const isDeleted = versions.length < templates.length && !emptyOnes.test(id) && !versions.every(isRetained);
    const names = new Set(versions.flatMap(({ Type }) => replacing.get(Type) ?? []));
    const changed = [...names].filter((name) => valuesOf(({ Properties }) => Properties[name]) > 1);
    return [
      ...(isDeleted ? [`${id} is deleted`] : []),
      ...(valuesOf(({ Type }) => Type) > 1 ? [`${id} becomes another type`] : []),
      ...changed.map((name) => `${id} is replaced, because ${name} changes`),
    ];
  });
}

function isRetained({ DeletionPolicy }: Resource): boolean {
  return DeletionPolicy === 'RetainExceptOnCreate';
}
