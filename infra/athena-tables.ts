import { Aws, Stack } from 'aws-cdk-lib';
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue';
import { Construct } from 'constructs';
import * as z from 'zod';
import { runsPrefix } from '../lambda/archive/archive-layout';
import { type Resource, resourceNames, resources } from '../lambda/resources';
import { outcomeSchema, runSchema } from '../lambda/run/run-record';
import type { Parts } from './parts';

interface ResourceTable {
  readonly description: string;
  /** Columns, with their path in the JSON document. */
  readonly paths: Readonly<Record<string, string>>;
}

/** A table for each resource whose content is a JSON document (service contract, section 2). */
const resourceTables: Readonly<Record<Resource, ResourceTable | undefined>> = {
  log: {
    description: 'Log records as received; a query must name the cluster; Athena reads records of 32 MB at most',
    paths: {
      record_uid: '(metadata uid)',
      last_modified: '(metadata lastModifiedTimestamp)',
      log: '(spec log)',
      state: '(status state)',
    },
  },
  manifest: undefined,
};

/**
 * Tables over run records and logs for Athena. Partitions are projected from the keys, so there is no crawler, nothing to
 * refresh, and no cost without a query.
 *
 * A table cannot choose lines. So the tables of runs and of outcomes both have a row for every line of a run record, and
 * nothing but NULL in the rows of the other.
 *
 * Athena reads rows of 32 MB at most (Athena user guide, "Service Quotas"). A log is one row: one of more than 32 MB cannot
 * be queried.
 */
export class AthenaTables extends Construct {
  constructor(scope: Construct, id: string, { config, archive }: Pick<Parts, 'config' | 'archive'>) {
    super(scope, id);
    const database = new CfnDatabase(this, 'Database', {
      catalogId: Aws.ACCOUNT_ID,
      // `my_collector` for `My-Collector`.
      databaseInput: {
        name: config.name.toLowerCase().replaceAll('-', '_'),
        description: `Archive of ${Stack.of(this).stackName}`,
      },
    });
    const { retentionDays } = config.archive;
    const day = {
      'projection.day.type': 'date',
      'projection.day.format': 'yyyy-MM-dd',
      // One day more at both ends: the lifecycle rounds up, and a clock may be ahead.
      'projection.day.range': `${retentionDays === undefined ? '2025-01-01' : `NOW-${retentionDays + 1}DAYS`},NOW+1DAYS`,
      'projection.day.interval': '1',
      'projection.day.interval.unit': 'DAYS',
    };
    const table = (name: string, description: string, folder: string, partitions: string[], storage: Storage) => {
      const location = `s3://${archive.bucket.bucketName}/${folder}`;
      const path = partitions.map((key) => `${key === 'day' ? 'date' : key}=\${${key}}/`).join('');
      const tableInput = {
        name,
        tableType: 'EXTERNAL_TABLE',
        description,
        partitionKeys: partitions.map((key) => ({ name: key, type: 'string' })),
        parameters: {
          'projection.enabled': 'true',
          // The table does not list the uids; each query names its own.
          ...(partitions.includes('cluster') && { 'projection.cluster.type': 'injected' }),
          ...day,
          'storage.location.template': `${location}${path}`,
        },
        storageDescriptor: { location, ...storage },
      };
      new CfnTable(this, name, { catalogId: Aws.ACCOUNT_ID, databaseName: database.ref, tableInput });
    };
    for (const [name, description, line] of [
      ['runs', 'Attempts of runs; a query must filter by run IS NOT NULL', runSchema],
      [
        'outcomes',
        'Outcomes of every cluster and resource of every attempt; a query must filter by cluster IS NOT NULL',
        outcomeSchema,
      ],
    ] as const)
      table(name, description, runsPrefix, ['day'], {
        // Without a list from outside no record has this member, and the template stays as it is.
        columns: columnsOf(z.toJSONSchema(line) as JsonSchema).filter(
          ({ name }) => name !== 'clusterlist' || config.clusterList !== undefined,
        ),
        inputFormat: 'org.apache.hadoop.mapred.TextInputFormat',
        outputFormat: 'org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat',
        serdeInfo: { serializationLibrary: 'org.openx.data.jsonserde.JsonSerDe' },
      });
    for (const resource of resourceNames) {
      const { folder } = resources[resource];
      const ofResource = resourceTables[resource];
      if (ofResource === undefined) continue;
      const { description, paths } = ofResource;
      table(folder, description, `${folder}/`, ['cluster', 'day'], {
        columns: Object.keys(paths).map((name) => ({ name, type: 'string' })),
        inputFormat: 'com.amazon.ionhiveserde.formats.IonInputFormat',
        outputFormat: 'com.amazon.ionhiveserde.formats.IonOutputFormat',
        // JSON is valid Ion. Athena's JSON readers need one line per record; the service may send several.
        serdeInfo: {
          serializationLibrary: 'com.amazon.ionhiveserde.IonHiveSerDe',
          parameters: Object.fromEntries(
            Object.entries(paths).map(([name, path]) => [`ion.${name}.path_extractor`, path]),
          ),
        },
      });
    }
  }
}

type Storage = Omit<CfnTable.StorageDescriptorProperty, 'location'>;

/** A JSON Schema, as far as lines of run records need it. */
interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

/** Hive's names are lower case; the members of a run record are found in any case. */
function columnsOf({ properties = {} }: JsonSchema): { name: string; type: string }[] {
  // Only the summary of a dry run has `wouldArchive`, and it leaves no record.
  const members = Object.entries(properties).filter(([name]) => name !== 'wouldArchive');
  return members.map(([name, member]) => ({ name: name.toLowerCase(), type: hiveType(member) }));
}

function hiveType(schema: JsonSchema): string {
  if (schema.type === 'object') {
    const members = columnsOf(schema).map(({ name, type }) => `${name}:${type}`);
    return `struct<${members.join(',')}>`;
  }
  if (schema.type === 'boolean') return 'boolean';
  return schema.type === 'integer' || schema.type === 'number' ? 'bigint' : 'string';
}
