import type { TemplateJson } from './example-stack';

/** What outlives a stack, and can be imported into the next one. */
const retained = ['ArchiveBucket', 'ArchiveAccessLogs', 'ArchiveKey', 'ApiKeySecret'];

/** The template that `cdk import` deploys into a new stack: the imported resources as they are, and nothing else. */
export function importTemplateOf({ Resources }: TemplateJson): TemplateJson {
  const isImported = (id: string) => retained.includes(id.replace(/[0-9A-F]{8}$/, ''));
  return { Resources: Object.fromEntries(Object.entries(Resources).filter(([id]) => isImported(id))) };
}

/** The logical ids that the resources of a template refer to. */
export function referencesIn({ Resources }: TemplateJson): string[] {
  const found: string[] = [];
  JSON.stringify(Resources, (name, value) => {
    const id = name === 'Ref' ? value : name === 'Fn::GetAtt' ? value[0] : undefined;
    if (typeof id === 'string' && !id.startsWith('AWS::')) found.push(id);
    return value;
  });
  return found;
}
