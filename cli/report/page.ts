import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatAge, formatCount, formatDuration, formatSecond, formatStale } from '../terminal/format';
import { clustersToShow, grid, mostReasons, sign } from './grid';
import { type Commands, command, commandsOf, Html, html, runTime } from './html';
import { lists } from './lists';
import { isPresent, type Report, type ReportFacts, type ReportRun } from './report';

/** Most clusters and records of a kind that the verdict names. */
const mostNamed = 3;

/**
 * The report as one HTML page, in parts. It has no script and loads nothing: its policy forbids every request, every script, and
 * every style but its own, by hash.
 * @param isAll the table has all clusters, however large the fleet is
 */
export function* reportPage(report: Report, facts: ReportFacts, isAll: boolean): Generator<string> {
  const { archive, createdAt, stale, flapping } = facts;
  const style = readFileSync(join(__dirname, 'report.css'), 'utf8').trim();
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const commands = commandsOf(archive);
  const { clusters, runs } = report;
  const shown = clustersToShow(clusters.values(), runs.length, isAll);
  const remarks = new Map([
    ...flapping.map(({ cluster, failed, runs }) => [cluster, flappingText(failed, runs)] as const),
    ...stale.map((one) => [one.cluster, staleText(one)] as const),
  ]);
  yield html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Cluster archive ${archive}</title>
<style>${new Html(style)}</style>
</head>
<body>
<header><h1>Cluster archive</h1><p class="quiet">${archive} · written <time>${formatSecond(createdAt)}</time></p></header>
<main>
${verdict(report, facts, commands)}
<section id="fleet" class="card">
<h2>Clusters and runs</h2>
<p class="quiet">${countOf(clusters.size, shown.length)}</p>
<label><input type="checkbox"> Only with failures</label>
`.text;
  for (const part of grid(report, shown, remarks, commands)) yield part.text;
  yield `${legend.text}</section>`;
  for (const part of lists(report, facts, commands)) yield part.text;
  yield html`</main>
</body>
</html>
`.text;
}

/** Says first how the last run ended, then why it is not complete, which clusters are stale, and what to do. */
function verdict(report: Report, facts: ReportFacts, commands: Commands): Html {
  const { runs } = report;
  const { createdAt, isNewest, overdue, problems, notLookedAt, stamps, stale, flapping, notCovered } = facts;
  const run = runs.findLast(isPresent);
  if (run === undefined) return html``;
  const { archived, failed, notAttempted, optionalMissing, doubts } = run.counts;
  const isComplete = run.status === 'complete';
  const isCertain = overdue === undefined && problems.length === 0 && notLookedAt === 0;
  const age = formatAge(createdAt.getTime() - run.time.getTime()).replace(/ago$/, 'before this page was written');
  const absent = runs.slice(0, runs.indexOf(run)).flatMap((one) => (isPresent(one) ? [] : one));
  const lastAbsent = runs.flatMap((one) => (isPresent(one) ? [] : one)).at(-1);
  const missing = [failed > 0 && html`${failed} failed`, notAttempted > 0 && html`${notAttempted} not attempted`];
  const why = run.reasons.map(({ reason, count }) => html`<strong>${reason}</strong> (${count})`);
  return html`<section id="verdict" class="card ${isComplete ? (isCertain ? 'well' : 'unclear') : 'ill'}">
<h2>${archived} of ${archived + failed + notAttempted + optionalMissing} archived by ${isNewest ? 'the last run' : 'the last run on this page'}${optionalMissing > 0 && html`, ${optionalMissing} optional missing`}${doubts > 0 && html`, ${doubts} with a doubt`}</h2>
<p class="quiet">Run ${runTime(run.time)}, ${age} · ${formatCount(run.attempts, 'attempt')}, ${formatDuration(run.durationMs)} · ${streakOf(report)} · ${share(report)}</p>
<ul>
${overdue !== undefined && html`<li class="bad">Overdue: ${overdue}.</li>`}
${!isComplete && why.length === 0 && html`<li>The records of some attempts or shards are missing or damaged.</li>`}
${some(html`${joined(missing.filter((part) => part !== false))}`, why, mostReasons)}
${absent.length > 0 && html`<li>${formatCount(runsIn(absent), 'scheduled run')} before it left no record, the last ${runTime(absent.at(-1)?.last ?? run.time)}.</li>`}
${some(
  html`Not archived for longest`,
  stale.map((one) => html`<strong>${one.cluster}</strong>, ${staleText(one)}`),
)}
${some(
  html`Failing now and then`,
  flapping.map(({ cluster, failed, runs }) => html`<strong>${cluster}</strong>, ${flappingText(failed, runs)}`),
)}
${notCovered.length > 0 && html`<li>No run on this page covers ${formatCount(notCovered.length, 'configured cluster')}.</li>`}
${some(
  html`Damage, or not read`,
  problems.map(({ kind, key, problem }) => html`${kind}: ${key}: ${problem}`),
)}
${notLookedAt > 0 && html`<li>Shown as recorded: whether ${notLookedAt.toLocaleString('en-US')} objects are there was not looked at.</li>`}
${stamps.map((stamp) => html`<li>${stamp}</li>`)}
</ul>
${overdue !== undefined && command('Find out why', 'npm run collector -- doctor --stack NAME')}
${!isComplete && command('Complete the run', commands.complete(run.time))}
${!isComplete && command('See every outcome', commands.run(run.time))}
${lastAbsent && command('Collect the last absent run late', commands.collectLate(lastAbsent.last))}
${problems.length > 0 && command('Find all damage', commands.verify)}
</section>`;
}

/** A line with the first of several; nothing without any. */
function some(heading: Html, all: readonly Html[], most = mostNamed): Html | false {
  const more = all.length > most && html` and ${all.length - most} more`;
  return all.length > 0 && html`<li>${heading}: ${joined(all.slice(0, most))}${more}</li>`;
}

function joined(parts: readonly Html[]): Html[] {
  return parts.map((part, at) => (at === 0 ? part : html`; ${part}`));
}

function staleText({ runs, hours, lastArchived }: ReportFacts['stale'][number]): string {
  return formatStale(runs, hours, lastArchived === null);
}

/** `30 of 60 runs`. */
function flappingText(failed: number, runs: number): string {
  return `${failed} of ${formatCount(runs, 'run')}`;
}

function runsIn(runs: Report['runs']): number {
  return runs.reduce((total, run) => total + (isPresent(run) ? 1 : run.runs), 0);
}

/** For how many runs it has been as it is. An absent run is not a complete one. */
function streakOf({ runs }: Report): Html {
  const last = runs.findLastIndex(isPresent);
  const isComplete = runs[last]?.status === 'complete';
  const turned = runs.slice(0, last).findLastIndex(({ status }) => (status === 'complete') !== isComplete);
  const streak = runs.slice(turned + 1, last + 1);
  const what = isComplete ? 'complete' : 'incomplete or absent';
  const since = turned < 0 ? html`all on this page` : html`since ${streak[0] && runTime(streak[0].time)}`;
  return html`${what} for ${formatCount(runsIn(streak), 'run')}, ${since}`;
}

function countOf(all: number, shown: number): Html {
  if (shown === all) return html`${formatCount(all, 'cluster')}`;
  return html`${shown} of ${formatCount(all, 'cluster')}: those with failures, doubts, late content or changes, the worst first. report --all shows every cluster.`;
}

const legend = html`<ul id="legend" class="quiet">
<li>${sign('archived')} archived</li>
<li>${sign('changed')} manifest changed</li>
<li>${sign('late')} late</li>
<li>${sign('doubt')} with a doubt</li>
<li>${sign('missing')} missing: archived, and not there</li>
<li>${sign('failed')} failed</li>
<li>${sign('not-attempted')} not attempted</li>
<li>${sign('none')} not covered</li>
<li><i class="absent"></i> absent: scheduled, and no record</li>
</ul>
<p class="quiet">Each cell: the log above, the manifest below. Cells with a sign, and the times above, open and close with a click. Times are UTC.</p>`;

/** Of all runs on the page. What was due in absent runs was not archived. */
function share({ runs }: Report): string {
  const sum = (of: (run: ReportRun) => number) => runs.filter(isPresent).reduce((total, run) => total + of(run), 0);
  const absentDue = runs.reduce((total, run) => total + (isPresent(run) ? 0 : run.due), 0);
  const archived = sum(({ counts }) => counts.archived);
  const due = archived + sum(({ counts }) => counts.failed + counts.notAttempted) + absentDue;
  return `${percentage(archived, due)} archived of ${due.toLocaleString('en-US')} due`;
}

/** Rounded down: 100 % means that nothing is missing. */
function percentage(part: number, all: number): string {
  return all === 0 ? '-' : `${(Math.floor((part / all) * 1000) / 10).toFixed(part === all ? 0 : 1)} %`;
}
