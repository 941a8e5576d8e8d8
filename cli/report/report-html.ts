import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { escapedJson } from '../terminal/printable';
import type { ReportData } from './page/report-data';

const pageFolder = join(__dirname, 'page');

/** What could end a script element, or begin a comment in it. */
const unsafeInScript = /[<>&\u2028\u2029]/g;

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
<script type="application/json" id="data">${escapedJson(data, unsafeInScript)}</script>
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
  return outputFiles.map(({ text }) => text).join('');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
