import * as z from 'zod';
import { outcomeSchema, runSchema } from '../../lambda/run/run-record';
import { exampleTemplate, resourcesOf, templateOf, textOf } from './example-stack';

interface TableInput {
  Name: string;
  Description: string;
  PartitionKeys: { Name: string }[];
  Parameters: Record<string, unknown>;
  StorageDescriptor: {
    Columns: { Name: string; Type: string }[];
    SerdeInfo: { SerializationLibrary: string; Parameters?: Record<string, string> };
  };
}

function tablesOf(changes: Record<string, unknown>): Record<string, TableInput> {
  const json = templateOf({ athenaTables: true, ...changes });
  const inputs = resourcesOf(json, 'AWS::Glue::Table').map(([, { Properties }]) => Properties.TableInput as TableInput);
  return Object.fromEntries(inputs.map((input) => [input.Name, input]));
}

/** Name and type of each column. */
function columnsOf(table: TableInput | undefined): string[] {
  return table?.StorageDescriptor.Columns.map(({ Name, Type }) => `${Name} ${Type}`) ?? [];
}

describe('the Athena tables', () => {
  it('exist only if they are configured', () => {
    exampleTemplate().resourceCountIs('AWS::Glue::Table', 0);
    expect(Object.keys(tablesOf({}))).toEqual(['runs', 'outcomes', 'logs']);
  });

  it('have the members of the lines of a run record as their columns, with their types', () => {
    const { runs, outcomes } = tablesOf({});
    expect(columnsOf(runs)).toEqual([
      ...[
        'version bigint',
        'run string',
        'attempt bigint',
        'shard struct<index:bigint,count:bigint>',
        'trigger string',
      ],
      ...['startedat string', 'finishedat string', 'collectorversion string', 'functionversion string'],
      ...['invocation string', 'configuration string', 'status string', 'stopped string'],
      'counts struct<archived:bigint,alreadyarchived:bigint,failed:bigint,notattempted:bigint,optionalmissing:bigint,doubts:bigint>',
      'outcomes bigint',
    ]);
    expect(columnsOf(outcomes).map((column) => column.split(' ')[0])).toEqual(
      Object.keys(outcomeSchema.shape).map((name) => name.toLowerCase()),
    );
    const typed = ['cluster string', 'resource string', 'optional boolean', 'httpstatus bigint', 'fetchedat string'];
    expect(columnsOf(outcomes)).toEqual(expect.arrayContaining([...typed, 'loglines bigint', 'logsha256 string']));
  });

  it('tell runs from outcomes by a column that all rows of the one have, and none of the other', () => {
    const { runs, outcomes } = tablesOf({});
    expect([runs?.Description, outcomes?.Description]).toEqual([
      expect.stringContaining('run IS NOT NULL'),
      expect.stringContaining('cluster IS NOT NULL'),
    ]);
    const namesOf = (table?: TableInput) => columnsOf(table).map((column) => column.split(' ')[0]);
    expect(namesOf(runs).filter((name) => namesOf(outcomes).includes(name))).toEqual([]);
    const required = [runSchema, outcomeSchema].flatMap((schema) => z.toJSONSchema(schema).required);
    expect(required).toEqual(expect.arrayContaining(['run', 'cluster']));
  });

  it('have the partitions of the keys', () => {
    const { runs, outcomes, logs } = tablesOf({});
    const template = (table: TableInput | undefined) => textOf(table?.Parameters['storage.location.template']);
    for (const table of [runs, outcomes]) expect(template(table)).toBe(`s3://<ArchiveBucket>/runs/date=\${day}/`);
    expect(template(logs)).toBe(`s3://<ArchiveBucket>/logs/cluster=\${cluster}/date=\${day}/`);
    expect(logs?.PartitionKeys.map(({ Name }) => Name)).toEqual(['cluster', 'day']);
    expect(logs?.Parameters['projection.cluster.type']).toBe('injected');
  });

  it('reach back as far as the retention', () => {
    const range = (archive: object) => tablesOf({ archive }).runs?.Parameters['projection.day.range'];
    expect(range({ retentionDays: 400 })).toBe('NOW-401DAYS,NOW+1DAYS');
    expect(range({})).toBe('2025-01-01,NOW+1DAYS');
  });
});
