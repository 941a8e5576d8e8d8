import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type { ReportData } from './page/report-data';

const pageFolder = join(__dirname, 'page');

/**
 * The report as one HTML page that loads nothing: its policy forbids every request, and every script but its own, by hash.
 * Data from the service is in it only as JSON, which the page's script puts into text nodes.
 */
export function reportHtml(data: ReportData): string {
  const style = bundle('page.css');
  const script = bundle('main.ts');
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Cluster archive</title>
<style>${style}</style>
</head>
<body>
${readFileSync(join(pageFolder, 'body.html'), 'utf8')}
<script type="application/json" id="data">${scriptSafeJson(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

function bundle(file: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(pageFolder, file)],
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['es2024', 'chrome123', 'firefox121', 'safari17.5'],
    charset: 'utf8',
    write: false,
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`Building the page's ${file} failed: esbuild wrote nothing`);
  return output.text;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** JSON that can stand in a script element: nothing in it can end the element or begin a comment. */
function scriptSafeJson(document: unknown): string {
  return JSON.stringify(document).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
