import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatCount } from '../terminal/format';
import { commandsOf } from './commands';
import { clustersToShow, grid, sign } from './grid';
import { Html, html } from './html';
import { lists } from './lists';
import { formatNumber, moment } from './page-parts';
import type { Report } from './report';
import { totals } from './totals';
import { verdict } from './verdict';

/**
 * The report as one HTML page, in parts. It is complete without its script, which filters rows, and loads nothing: its policy
 * forbids every request, and every style and script but its own, by hash.
 * @param isAll the table has all clusters, however large the fleet is
 */
export function* reportHtml(report: Report, isAll: boolean): Generator<string> {
  const [style, script] = [sourceOf('report.css'), sourceOf('filter.js')];
  const policy = `default-src 'none'; style-src '${hashOf(style)}'; script-src '${hashOf(script)}'; base-uri 'none'; form-action 'none'`;
  const commands = commandsOf(report.archive);
  const shown = clustersToShow(report, isAll);
  yield html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Cluster archive ${report.archive}</title>
<style>${new Html(style)}</style>
</head>
<body>
<header><h1>Cluster archive</h1><p class="quiet">${report.archive} · written ${moment(report.createdAt)}</p></header>
<main>
${verdict(report, commands)}
<section id="fleet" class="card">
<h2>Clusters and runs</h2>
${tools}
<p class="quiet">${countOf(report, shown.length)}</p>
`.text;
  for (const part of grid(report, shown, commands)) yield part.text;
  yield html`${legend}
</section>
${lists(report, commands)}
${totals(report)}
</main>
<script>${new Html(script)}</script>
</body>
</html>
`.text;
}

function countOf({ clusters }: Report, shown: number): string {
  const all = formatCount(clusters.length, 'cluster');
  if (shown === clusters.length) return all;
  return `${formatNumber(shown)} of ${all}: those with failures, doubts, late content or changes, the worst first. report --all shows every cluster.`;
}

/** The script shows them: without it, they would do nothing. */
const tools = html`<div id="tools" hidden>
<input id="filter" type="search" placeholder="Filter" aria-label="Filter clusters and reasons" autocomplete="off" spellcheck="false">
<select id="show" aria-label="Show">
<option value="">All clusters</option>
<option value="failures">With failures</option>
<option value="doubts">With a doubt</option>
<option value="late">With late content</option>
<option value="changes">With manifest changes</option>
</select>
<span id="shown" class="quiet" role="status"></span>
</div>`;

const legend = html`<ul id="legend" class="quiet">
<li>${sign('archived')} archived</li>
<li>${sign('changed')} manifest changed</li>
<li>${sign('late')} late</li>
<li>${sign('doubt')} with a doubt</li>
<li>${sign('failed')} failed</li>
<li>${sign('not-attempted')} not attempted</li>
<li>${sign('none')} not covered</li>
<li><i class="absent"></i> absent: scheduled, and no record</li>
</ul>
<p class="quiet">Each cell: the log above, the manifest below. Cells with a sign, and the times above, open and close with a click. Times are UTC.</p>`;

function sourceOf(file: string): string {
  return readFileSync(join(__dirname, file), 'utf8').trim();
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
