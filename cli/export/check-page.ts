import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterPrefix, stampOf } from '../../archive/format/keys';
import { resourceNames, resources } from '../../archive/format/resources';
import { type Part, partFile, partKeyFile, partReaderFile } from '../../archive/prove';

const folders = resourceNames.map((name) => resources[name].folder);

/** The page with the commands for a whole archive. */
const proofPage = join(__dirname, '../../docs/proof.md');

/**
 * The page that tells how to check a part by hand: the commands of docs/proof.md. Those that would miss the rest of the
 * archive are bounded to what the part holds.
 */
export function checkPage(part: Part): string {
  const page = readFileSync(proofPage, 'utf8');
  const { archive, exportedAt, cluster, from, to } = part;
  const [first, last] = [stampOf(from ?? new Date(0)), to === undefined ? '9999' : stampOf(to)];
  const isOutside = `[[ "$stamp" < '${first}' || "$stamp" > '${last}' ]]`;
  // Percent-encoded: it has no character that a shell takes for another.
  const ofCluster = `grep -F ${resourceNames.map((name) => `-e '"key":"${clusterPrefix(name, cluster)}'`).join(' ')}`;
  return `# Check this part of an archive

It was taken from an archive of logs and manifests. \`${partFile}\` says which part it is:

    ${JSON.stringify({ archive, exportedAt, cluster, from, to })}

Nobody signed that: the seals are signed. They have the SHA-256 of every run record, and each run record has that of every object.
Run records are whole, and name other clusters too: it is the whole ones whose SHA-256 is sealed. All it takes is \`bash\`,
\`openssl\`, \`sha256sum\`, \`gunzip\`, and the tools of every Linux. Work in this folder. \`$KEY\` is
the path of the public key that you kept, and \`$HEAD\` the SHA-256 that a mail of an audit has. \`KEY=${partKeyFile}\` is the key that
came with the seals: it shows only that they belong together. \`python3 ${partReaderFile} . --part --public-key $KEY\` makes these checks at once, but for that of the mail.

${commandOf(page, 'The mail')}
${commandOf(page, 'The signatures')}
${commandOf(page, 'The chain')}
${commandOf(page, 'The stamps')}
**The run records.** Prints those of the period that are not as they were sealed. \`FAILED open or read\` is one that is not here: was
its retention over when this part was taken? \`plan\` in the seals has it.

\`\`\`sh
head -qn 1 seals/????????.jsonl | grep -o '{"key":"runs/[^}]*}' |
  sed 's/.*"key":"\\([^"]*\\)","sha256":"\\([^"]*\\)".*/\\2  \\1/' |
  while read -r sha256 key; do
    stamp=\${key##*/} && stamp=\${stamp%%Z.*}Z
    ${isOutside} || echo "$sha256  $key"
  done | sha256sum --check --quiet
\`\`\`

${commandOf(page, 'What is not sealed')}
**The objects.** Prints those of the cluster that are not what was archived, or are not here.

\`\`\`sh
{
  grep -rh '^{"cluster":.*"outcome":"archived"' runs
  head -qn 1 seals/????????.jsonl | grep -o '{"key":"\\(${folders.join('\\|')}\\)/[^}]*}'
} | ${ofCluster} |
  while read -r line; do
    key=$(printf %s "$line" | sed 's/.*"key":"\\([^"]*\\)".*/\\1/')
    sha256=$(printf %s "$line" | sed 's/.*"sha256":"\\([^"]*\\)".*/\\1/')
    stamp=\${key##*/} && stamp=\${stamp%%Z.*}Z
    ${isOutside} && continue
    [ "$(gunzip -c < "$key" | sha256sum | cut -c 1-64)" = "$sha256" ] || echo "$key is not what was archived"
  done
\`\`\`

**What nothing names.** Prints the objects that no run record and no seal has.

\`\`\`sh
comm -13 <({
  grep -rh '^{"cluster":.*"outcome":"\\(already-\\)\\?archived"' runs
  head -qn 1 seals/????????.jsonl | grep -o '{"key":"\\(${folders.join('\\|')}\\)/[^}]*}'
} | sed 's/.*"key":"\\([^"]*\\)".*/\\1/' | sort -u) <(find . -type f | cut -c 3- | grep -E '^(${folders.join('|')})/' | sort)
\`\`\`
`;
}

/** One command of the page, with the words before it. */
function commandOf(page: string, name: string): string {
  const found = new RegExp(`^\\*\\*${name}\\.\\*\\*[\\s\\S]*?^\`\`\`sh\\n[\\s\\S]*?^\`\`\`\\n`, 'm').exec(page)?.[0];
  if (found === undefined) throw new Error(`docs/proof.md has no command "${name}".`);
  return found;
}
