import { everything, resourcesOf, templateOf } from './example-stack';
import { operations } from './guides';
import { importTemplateOf, referencesIn } from './import-template';

const { replicateTo: _, ...archive } = everything.archive;

describe('taking over a retained archive', () => {
  const json = templateOf({ ...everything, apiKeySecret: undefined, archive });
  const imported = importTemplateOf(json);

  it('refers to nothing that is not imported', () => {
    expect(referencesIn(imported).filter((id) => !(id in imported.Resources))).toEqual([]);
  });

  it('does not import the signing key: its policy refers to the role of the audit, which is not imported', () => {
    const keys = resourcesOf(json, 'AWS::KMS::Key').filter(([id]) => id.startsWith('AuditSigningKey'));
    expect(referencesIn({ Resources: Object.fromEntries(keys) })).toContainEqual(expect.stringMatching(/^AuditRole/));
    expect(operations).not.toMatch(/"AuditSigningKey/);
  });
});
