/**
 * What the changelog says of a version: the text below its heading.
 * @throws Error if it has no such heading, or nothing below it
 */
export function releaseNotes(changelog: string, version: string): string {
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((one) => /^\S+/.exec(one)?.[0] === version);
  const text = section?.slice(section.indexOf('\n')).trim() ?? '';
  if (text === '')
    throw new Error(`Reading the notes of ${version} failed: CHANGELOG.md has no text below a heading "## ${version}"`);
  return `${text}\n`;
}
