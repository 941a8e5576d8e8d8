import { parseRunRecordKey } from '../../archive/format/keys';
import { resources } from '../../archive/format/resources';
import type { RunOutcome } from '../../archive/format/run-record';
import { firingsOfSchedule } from '../../archive/format/schedule/firings';
import { checkObject, unlessExpired } from '../../archive/prove/attest';
import type { ArchiveReader } from '../../archive/read';
import { agendaOf } from './agenda';
import { auditWorld } from './audit-world';
import { ClusterOutcomes } from './cluster-outcomes';
import { Habits } from './habits';
import { judgeRuns, judgeSeals } from './judge-due';
import { LogSeams } from './log-seams';
import { type Looked, makeSeal, mostListed, type SealContext, type UnsignedSeal } from './make-seal';
import { OpenChecks } from './open-checks';
import { sealRecords } from './seal-records';
import { Totals } from './totals';
import { walk } from './walk';

export interface ExamineContext extends SealContext {
  readonly reader: ArchiveReader;
  /** Aborts when the audit's time is over. */
  readonly stop: AbortSignal;
}

/**
 * Audits the archive.
 * @returns what it computed, to be signed
 * @throws ArchiveReadError if the archive cannot be read
 */
export async function examine(context: ExamineContext): Promise<UnsignedSeal> {
  return makeSeal(context, await look(context));
}

/** Looks at the archive in the order of what matters, as far as there is time. */
async function look(context: ExamineContext): Promise<Looked> {
  const { reader: archive, plan, chain, findings, own, now, stop } = context;
  const habits = new Habits(chain.state.habits, plan.clusters, now);
  const clusters = new ClusterOutcomes(chain.state.failing, plan.clusters, habits);
  const world = auditWorld({ archive, chain, plan, now, stop, keptName: clusters.sharedName });
  const totals = new Totals(world);
  const checks = new OpenChecks(chain.state.open.first, world);
  const logs = new LogSeams(world.reader, chain.state.logs, plan.clusters.length, plan.frozenAfterHours);

  const firings = firingsOfSchedule(plan.schedule);
  const records = await sealRecords(world, { ...context, archive, clusters, totals, most: mostListed, firings });
  const lost: Date[] = [];
  for (const gone of world.sealed.gone({}, records.there)) {
    const run = parseRunRecordKey(gone.key)?.run;
    if (run === undefined) continue;
    const judged = await unlessExpired(world, gone);
    totals.take(judged);
    if (!('finding' in judged)) continue;
    findings.add(judged.finding);
    lost.push(run);
  }
  judgeSeals(context, own.seal, records);
  const due = await judgeRuns(context, world.expiry, records);
  await checks.lookBeside(stop, findings.find);
  const agenda = agendaOf(chain.state.todo, {
    ...{ now, lost, open: checks.runs },
    before: chain.stateOf && new Date(chain.stateOf.listedFrom),
    added: records.span && { ...records.span, seal: (chain.stateOf?.number ?? 0) + 1 },
  });
  const left = await walk(agenda, world, {
    ...{ stop, findings, observers: [totals, checks, logs], rereadDays: plan.rereadDays, runs: records.runs },
    checkNew: (reader, key, outcome) => (isLog(outcome) ? logs.check(outcome) : checkObject(reader, key, outcome)),
  });
  for (const finding of world.configurations.findings) findings.add(finding);
  return { records, due, clusters, habits, totals, checked: checks.checked, logs, left };
}

/** Whether a record names a log. */
function isLog(outcome: RunOutcome | undefined): outcome is RunOutcome & { readonly key: string } {
  return outcome?.key !== undefined && resources[outcome.resource].holdsLog;
}
