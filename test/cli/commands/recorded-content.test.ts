import { createHash } from 'node:crypto';
import { readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { damageKinds } from '../../../archive/format/finding';
import { runRecordKey } from '../../../archive/format/keys';
import { objectMetadata } from '../../../archive/format/object-metadata';
import { problems } from '../../../archive/format/problems';
import { type FirstResource, firstResources } from '../../../archive/format/resources';
import { newFolder } from '../../support/new-folder';
import { rounds } from '../../support/rounds';
import { type Answer, ArchiveFixture, hour, keyOf, logRecord } from '../archive-fixture';
import { runCollector } from '../run-collector';
import { longAfter, runVerify } from '../run-verify';
import { SealFixture } from '../seal-fixture';

const clusters = ['a', 'b'];
const hours = [8, 9, 10];

/** Each place in an archive. */
const places = hours.flatMap((at) =>
  clusters.flatMap((cluster) => firstResources.map((resource) => ({ at, cluster, resource }))),
);
type Place = (typeof places)[number];

const contentOf = ({ at, cluster, resource }: Place, version = 'archived') =>
  resource === 'log' ? logRecord(cluster, `${version} line ${at}\n`) : `kind: A # ${version} line ${at}\n`;

/** What is said of damage, in the words of `verify`, or of content that was opened and is damaged. */
const damage = new RegExp(`^(${damageKinds.join('|')}): | damaged: `, 'm');

/** Puts an object that agrees with its own metadata, over one that is there. */
async function plant(archive: ArchiveFixture, place: Place): Promise<void> {
  const { at, cluster, resource } = place;
  const content = Buffer.from(contentOf(place, 'planted'));
  const sha256 = createHash('sha256').update(content).digest('hex');
  const facts = { cluster, resource, run: hour(at), fetchedAt: hour(at), sha256, length: content.length, version: '1' };
  // In the millisecond of a record that lacks it, it would be what a killed attempt left.
  for (const now = Date.now(); Date.now() === now; ) await setImmediate();
  await archive.put(keyOf(resource, cluster, hour(at)), gzipSync(content), objectMetadata(facts));
}

const harms = {
  none: async () => {},
  planted: plant,
  removed: (archive: ArchiveFixture, { at, cluster, resource }: Place) =>
    rm(join(archive.folder, keyOf(resource, cluster, hour(at))), { force: true }),
  damaged: async (archive: ArchiveFixture, { at, cluster, resource }: Place) => {
    const key = keyOf(resource, cluster, hour(at));
    if ((await archive.store.head(key)) !== undefined) await archive.damage(key);
  },
};
type Harm = keyof typeof harms;

async function build(failed: readonly boolean[], isRecorded: readonly boolean[]): Promise<ArchiveFixture> {
  const archive = await ArchiveFixture.create();
  for (const [index, at] of hours.entries()) {
    const answer = (cluster: string, resource: FirstResource): Answer => {
      const place = places.findIndex((one) => one.at === at && one.cluster === cluster && one.resource === resource);
      if (failed[place] === true) return { failed: 'GET it failed: 503' };
      return { content: contentOf({ at, cluster, resource }) };
    };
    await archive.attempt({ run: hour(at), clusters, answer });
    if (isRecorded[index] === false) await rm(join(archive.folder, runRecordKey({ run: hour(at), attempt: 1 })));
  }
  return archive;
}

interface Line {
  readonly argsOf: (place: Place) => string[];
  /** Whether a command that is asked for one place shows another too. */
  readonly shows: (one: Place, asked: Place, all: readonly Place[]) => boolean;
  /** Of what was archived, or lies there, what the command goes by: it says what of it is gone. In the order of their runs. */
  readonly tells: (all: readonly Place[], asked: Place) => readonly Place[];
  /** Whether it looks at run 9 as one of several, and says so if that is absent. Left out: it does not. */
  readonly spans?: true;
  /** How it ends with damage; `as recorded`: it does not look, and says so. */
  readonly damaged: number | 'as recorded';
}

const half = (at: number) => new Date(hour(at).getTime() + 1_800_000).toISOString();
const upTo = (at: number) => (one: Place) => one.at <= at;
const ofOne = (asked: Place) => (one: Place) => isOfOne(one, asked);
const ofLog = (asked: Place) => (one: Place) => one.cluster === asked.cluster && one.resource === 'log';
const tellsOne: Line['tells'] = (all, asked) => all.filter(ofOne(asked));

const outFolder = 'FOLDER';

/**
 * Every command that reads an archive, in each form that reads it in another way. Left out are `verify`, by which the others are
 * judged, and what reads a bucket alone.
 */
const lines: readonly Line[] = [
  {
    argsOf: ({ at, cluster, resource }) => ['show', cluster, '--resource', resource, '--run', hour(at).toISOString()],
    shows: (one, asked) => isOfOne(one, asked) && one.at === asked.at,
    tells: (all, asked) => all.filter((one) => isOfOne(one, asked) && one.at === asked.at),
    damaged: 1,
  },
  {
    argsOf: ({ cluster, resource }) => ['show', cluster, '--resource', resource],
    shows: (one, asked, all) => one === all.filter(ofOne(asked)).at(-1),
    tells: (all, asked) => all.filter(ofOne(asked)).slice(-1),
    damaged: 1,
  },
  {
    argsOf: ({ cluster, resource }) => ['show', cluster, '--resource', resource, '--json', '--at', half(9)],
    shows: (one, asked, all) => one === all.filter(ofOne(asked)).filter(upTo(9)).at(-1),
    tells: (all, asked) => all.filter(ofOne(asked)).filter(upTo(9)).slice(-1),
    damaged: 1,
  },
  {
    argsOf: ({ cluster, resource }) => ['diff', cluster, '--resource', resource],
    shows: (one, asked, all) => all.filter(ofOne(asked)).slice(-2).includes(one),
    tells: (all, asked) => {
      const own = all.filter(ofOne(asked));
      return own.length > 1 ? own.slice(-2) : [];
    },
    damaged: 3,
  },
  {
    argsOf: ({ cluster, resource }) => ['diff', cluster, '--resource', resource, '--from', half(8), '--to', half(10)],
    shows: isOfOne,
    tells: (all, asked) => {
      const own = all.filter(ofOne(asked));
      const [from, to] = [own.filter(upTo(8)), own];
      return from.length > 0 && to.length > from.length ? [...from.slice(-1), ...to.slice(-1)] : [];
    },
    damaged: 3,
  },
  {
    argsOf: ({ cluster, resource }) => ['show', cluster, '--resource', resource, '--raw'],
    shows: (one, asked, all) => one === all.filter(ofOne(asked)).at(-1),
    tells: (all, asked) => all.filter(ofOne(asked)).slice(-1),
    damaged: 1,
  },
  {
    argsOf: ({ cluster, resource }) => ['diff', cluster, '--resource', resource, '--json'],
    shows: (one, asked, all) => all.filter(ofOne(asked)).slice(-2).includes(one),
    tells: (all, asked) => {
      const own = all.filter(ofOne(asked));
      return own.length > 1 ? own.slice(-2) : [];
    },
    damaged: 3,
  },
  // It reads both sides of each change, and prints neither.
  {
    argsOf: ({ cluster, resource }) => ['history', cluster, '--resource', resource, '--ignore', 'line'],
    shows: isOfOne,
    tells: tellsOne,
    spans: true,
    damaged: 1,
  },
  {
    argsOf: ({ cluster }) => ['export', '--cluster', cluster, '--out', outFolder],
    shows: (one, asked) => one.cluster === asked.cluster,
    tells: (all, asked) => all.filter(({ cluster }) => cluster === asked.cluster),
    damaged: 1,
  },
  // What shows no content, but what the records say.
  {
    argsOf: ({ cluster, resource }) => ['history', cluster, '--resource', resource],
    shows: () => false,
    tells: (all, asked) => (all.some(ofOne(asked)) ? all.filter(ofOne(asked)) : []),
    spans: true,
    damaged: 1,
  },
  {
    argsOf: ({ resource }) => ['history', '--all', '--resource', resource],
    shows: () => false,
    tells: (all, asked) => all.filter((one) => one.resource === asked.resource),
    spans: true,
    damaged: 1,
  },
  {
    argsOf: ({ resource }) => ['history', '--all', '--json', '--resource', resource],
    shows: () => false,
    tells: (all, asked) => all.filter((one) => one.resource === asked.resource),
    damaged: 1,
  },
  { argsOf: () => ['list', '--failed'], shows: () => false, tells: (all) => all, spans: true, damaged: 1 },
  { argsOf: () => ['list', '--failed', '--json'], shows: () => false, tells: (all) => all, spans: true, damaged: 1 },
  { argsOf: () => ['list', '--stale', '1h'], shows: () => false, tells: (all) => all, spans: true, damaged: 1 },
  {
    argsOf: ({ cluster }) => ['list', '--stale', '1h', '--json', '--cluster', cluster],
    shows: () => false,
    tells: (all) => all,
    damaged: 1,
  },
  {
    argsOf: ({ cluster }) => ['list', '--cluster', `${cluster}*`],
    shows: () => false,
    tells: (all, asked) => all.filter(({ cluster }) => cluster === asked.cluster),
    spans: true,
    damaged: 1,
  },
  { argsOf: () => ['list', '--by', 'day'], shows: () => false, tells: () => [], damaged: 'as recorded' },
  { argsOf: () => ['list', '--by', 'cluster', '--json'], shows: () => false, tells: () => [], damaged: 'as recorded' },
  { argsOf: () => ['runs'], shows: () => false, tells: () => [], spans: true, damaged: 'as recorded' },
  { argsOf: () => ['runs', '--json'], shows: () => false, tells: () => [], spans: true, damaged: 'as recorded' },
  {
    argsOf: ({ cluster }) => ['runs', '--cluster', `${cluster}*`],
    shows: () => false,
    tells: (all, asked) => all.filter(({ cluster }) => cluster === asked.cluster),
    damaged: 1,
  },
  {
    argsOf: ({ cluster }) => ['runs', '--json', '--cluster', cluster],
    shows: () => false,
    tells: (all, asked) => all.filter(({ cluster }) => cluster === asked.cluster),
    spans: true,
    damaged: 1,
  },
  {
    argsOf: ({ at }) => ['runs', hour(at).toISOString(), '--json'],
    shows: () => false,
    tells: (all, asked) => all.filter(({ at }) => at === asked.at),
    damaged: 1,
  },
  { argsOf: () => ['list'], shows: () => false, tells: (all) => all, spans: true, damaged: 1 },
  { argsOf: () => ['list', '--json'], shows: () => false, tells: (all) => all, spans: true, damaged: 1 },
  {
    argsOf: ({ cluster, resource }) => ['list', '--cluster', cluster, '--resource', resource, '--failed'],
    shows: () => false,
    tells: tellsOne,
    spans: true,
    damaged: 1,
  },
  {
    argsOf: ({ at }) => ['runs', hour(at).toISOString()],
    shows: () => false,
    tells: (all, asked) => all.filter(({ at }) => at === asked.at),
    damaged: 1,
  },
  {
    argsOf: ({ cluster }) => ['runs', '--cluster', cluster],
    shows: () => false,
    tells: (all, asked) => all.filter(({ cluster }) => cluster === asked.cluster),
    spans: true,
    damaged: 1,
  },
  { argsOf: () => ['report', '--out', '-'], shows: () => false, tells: (all) => all, spans: true, damaged: 1 },
  {
    argsOf: ({ cluster }) => ['log', cluster, '--from', hour(0).toISOString()],
    shows: (one, asked) => ofLog(asked)(one),
    tells: (all, asked) => all.filter(ofLog(asked)),
    spans: true,
    damaged: 1,
  },
  {
    argsOf: ({ cluster }) => ['log', cluster, '--from', hour(10).toISOString()],
    shows: (one, asked) => ofLog(asked)(one),
    // The newest before the period is compared with the first one in it.
    tells: (all, asked) => {
      const [before, own] = [all.filter(upTo(9)), all.filter(({ at }) => at > 9)].map((of) => of.filter(ofLog(asked)));
      return [...(before?.slice(-1) ?? []), ...(own ?? [])];
    },
    damaged: 1,
  },
  {
    argsOf: ({ cluster }) => ['log', cluster, '--seams', '--from', hour(0).toISOString()],
    shows: (one, asked) => ofLog(asked)(one),
    tells: (all, asked) => all.filter(ofLog(asked)),
    spans: true,
    damaged: 1,
  },
  {
    argsOf: () => ['log', '--all', '--seams', '--json', '--from', hour(0).toISOString()],
    shows: ({ resource }) => resource === 'log',
    tells: (all) => all.filter(({ resource }) => resource === 'log'),
    spans: true,
    damaged: 1,
  },
  {
    argsOf: () => ['log', '--all', '--seams', '--from', hour(0).toISOString()],
    shows: ({ resource }) => resource === 'log',
    tells: (all) => all.filter(({ resource }) => resource === 'log'),
    spans: true,
    damaged: 1,
  },
  {
    argsOf: ({ cluster }) => ['log', cluster, '--lines-from', hour(0).toISOString()],
    shows: (one, asked) => ofLog(asked)(one),
    tells: (all, asked) => all.filter(ofLog(asked)),
    spans: true,
    damaged: 1,
  },
  {
    argsOf: ({ cluster, resource }) => ['grep', 'line', '--cluster', cluster, '--resource', resource, '--last', '10'],
    shows: isOfOne,
    tells: tellsOne,
    spans: true,
    damaged: 3,
  },
  {
    argsOf: ({ resource }) => ['grep', 'line', '--resource', resource, '--last', '10'],
    shows: (one, asked) => one.resource === asked.resource,
    tells: (all, asked) => all.filter((one) => one.resource === asked.resource),
    spans: true,
    damaged: 3,
  },
  ...(['--snapshots', '--count'] as const).map(
    (option): Line => ({
      argsOf: ({ resource }) => ['grep', 'line', '--resource', resource, '--last', '10', option],
      shows: (one, asked) => one.resource === asked.resource,
      tells: (all, asked) => all.filter((one) => one.resource === asked.resource),
      spans: true,
      damaged: 3,
    }),
  ),
];

function isOfOne(one: Place, { cluster, resource }: Place): boolean {
  return one.cluster === cluster && one.resource === resource;
}

describe('what a command shows', () => {
  it('is what verify calls sound, or the command says that it is not, and ends so', async () => {
    const flags = (length: number) => fc.array(fc.boolean(), { minLength: length, maxLength: length });
    const harm = fc.record({
      place: fc.constantFrom(...places),
      harm: fc.constantFrom<Harm>('none', 'planted', 'removed', 'damaged'),
    });
    await fc.assert(
      fc.asyncProperty(
        flags(places.length),
        fc.constantFrom([true, true, true], [true, false, true]),
        fc.array(harm, { maxLength: 3 }),
        async (failed, isRecorded, harmed) => {
          const archive = await build(
            failed.map((flag, at) => flag && at % 3 === 0),
            isRecorded,
          );
          for (const { place, harm } of harmed) await harms[harm](archive, place);
          const { result } = await runVerify(archive.folder);
          const kindOf = new Map(
            result.findings.flatMap(({ key, kind }) => (damageKinds.includes(kind) ? [[key, kind] as const] : [])),
          );
          const ofPlace = ({ at, cluster, resource }: Place) => kindOf.get(keyOf(resource, cluster, hour(at)));
          const isThere = await Promise.all(
            places.map(
              async ({ at, cluster, resource }) =>
                (await archive.store.head(keyOf(resource, cluster, hour(at)))) !== undefined,
            ),
          );
          // What a record says was archived, or what lies there.
          const known = places.filter((one, at) => isThere[at] === true || ofPlace(one) === 'missing');
          const isAbsent = result.findings.some(({ kind }) => kind === 'absent');
          const asked = lines.flatMap((line) => places.map((place) => ({ ...line, place, args: line.argsOf(place) })));
          const each = new Map(asked.map((one) => [one.args.join(' '), one]));
          for (const { args, place, shows, tells, spans, damaged } of each.values()) {
            const typed = args.map((arg) => (arg === outFolder ? newFolder() : arg));
            const { code, out, err } = await runCollector([...typed, '--archive', archive.folder], { now: longAfter });
            if (damaged === 'as recorded' && code !== 3)
              expect([args, err]).toEqual([args, expect.stringMatching(/^As recorded: /m)]);
            const suspects = places.filter((one) => shows(one, place, known) && ofPlace(one) !== undefined);
            const gone = tells(known, place).filter((one) => ofPlace(one) === 'missing');
            // `show --json` describes an object, and does not read its content.
            const isShown = args.includes('--json') ? suspects.some((one) => ofPlace(one) !== 'damaged') : out !== '';
            const isSuspect = suspects.length > 0 && (args[0] === 'show' ? isShown : /planted/.test(out));
            const isSaid = isSuspect || gone.length > 0;
            if (isSaid) expect([args, code, err]).toEqual([args, damaged, expect.stringMatching(damage)]);
            // Who is stale, and what changed, are not all that was archived.
            const isOfAll = args[0] !== 'history' && !args.includes('--stale');
            if (gone.length > 0 && args.includes('--json') && isOfAll)
              expect([args, out]).toEqual([args, expect.stringMatching(/missing|not there/)]);
            if (suspects.length === 0 && gone.length === 0)
              expect([args, err]).toEqual([args, expect.not.stringMatching(damage)]);
            if (isAbsent && spans && code !== 3)
              expect([args, out + err]).toEqual([args, expect.stringMatching(/absent|left no record/i)]);
          }
        },
      ),
      rounds(60),
    );
  });

  it('is named by each command that prints it, if somebody replaced it together with its metadata', async () => {
    const archive = await build([], [true, true, true]);
    for (const resource of firstResources) await plant(archive, { at: 9, cluster: 'a', resource });
    const printing = new Set<string>();
    for (const { argsOf, damaged } of lines)
      for (const resource of firstResources) {
        const args = argsOf({ at: 9, cluster: 'a', resource }).map((arg) => (arg === outFolder ? newFolder() : arg));
        const { code, out, err } = await runCollector([...args, '--archive', archive.folder], { now: longAfter });
        if (!out.includes('planted')) continue;
        printing.add(args[0] ?? '');
        const shown = args[0] === 'log' ? 'log' : resource;
        const said = new RegExp(`^contradiction: .*SHA-256.*\n  ${keyOf(shown, 'a', hour(9))}$`, 'm');
        expect([args, code, err]).toEqual([args, damaged, expect.stringMatching(said)]);
      }
    expect([...printing].sort()).toEqual(['diff', 'grep', 'log', 'show']);
  });

  it('is named as missing by each command that goes by what a run record says, if it is gone', async () => {
    const archive = await build([], [true, true, true]);
    const gone = places.filter(({ at, cluster }) => at === 10 && cluster === 'a');
    for (const place of gone) await harms.removed(archive, place);
    for (const { argsOf, tells, damaged } of lines)
      for (const place of gone) {
        const args = argsOf(place).map((arg) => (arg === outFolder ? newFolder() : arg));
        const { code, err } = await runCollector([...args, '--archive', archive.folder], { now: longAfter });
        const told = tells(places, place).filter((one) => gone.includes(one));
        if (told.length === 0) expect([args, err]).toEqual([args, expect.not.stringMatching(damage)]);
        for (const { resource } of told) {
          const key = keyOf(resource, 'a', hour(10));
          const said = new RegExp(`^missing: .* not there(\n  .*)*\n  ${key}$`, 'm');
          expect([args, code, err]).toEqual([args, damaged, expect.stringMatching(said)]);
        }
      }
  });

  it('is named by history --ignore, which would leave out a change to what somebody put there', async () => {
    const archive = await build([], [true, true, true]);
    const history = ['history', 'a', '--ignore', 'line', '--archive', archive.folder];
    const ignored = expect.stringContaining('2 changes only in lines that --ignore matches.');
    expect(await runCollector(history, { now: longAfter })).toMatchObject({ code: 0, err: ignored });
    const place = { at: 9, cluster: 'a', resource: 'manifest' } as const;
    await plant(archive, place);
    const { code, out, err } = await runCollector(history, { now: longAfter });
    const said = new RegExp(`^contradiction: .*SHA-256.*\n  ${keyOf('manifest', 'a', hour(9))}$`, 'm');
    expect([code, err]).toEqual([1, expect.stringMatching(said)]);
    expect(out.match(/ changed /g)).toHaveLength(2);
  });

  it('is damage where its run record lacks lines, not something that could not be read', async () => {
    const archive = await build([], [true, true, true]);
    const key = runRecordKey({ run: hour(9), attempt: 1 });
    const record = (await readFile(join(archive.folder, key), 'utf8')).split('\n');
    await archive.put(key, Buffer.from(record.toSpliced(-2, 1).join('\n')), {});
    const args = ['show', 'b', '--run', hour(9).toISOString(), '--archive', archive.folder];
    const { code, err } = await runCollector(args, { now: longAfter });
    expect([code, err]).toEqual([1, expect.stringMatching(/^damaged: .*it has 3 of 4 outcomes/m)]);
  });

  it('may be much to read, which log and history say first', async () => {
    const archive = await build([], [true, true, true]);
    const grow = async (key: string) => {
      await archive.put(key, Buffer.from(''), {});
      await truncate(join(archive.folder, key), 201 * 1024 * 1024);
    };
    const errOf = async (...args: string[]) => (await runCollector([...args, '--archive', archive.folder])).err;
    expect(await errOf('log', 'a')).not.toContain('Reading up to');
    // What no record names is counted and not read.
    await grow(keyOf('log', 'a', new Date(hour(9).getTime() + 1)));
    expect(await errOf('log', 'a')).toMatch(/^Reading up to 201\.0 MiB; --from, --to and --last bound it\.\n/);
    expect(await errOf('history', 'a')).not.toContain('Reading up to');
    await grow(runRecordKey({ run: hour(9), attempt: 2 }));
    expect(await errOf('history', 'a')).toMatch(/^Reading up to 201\.0 MiB; /);
  });

  it('is shown without a word of damage in an honest archive: kills, retries, runs under way, retention', async () => {
    const ofKills = fc.record({
      stories: fc.array(fc.constantFrom<Story>('complete', 'retried', 'killed'), { minLength: 3, maxLength: 3 }),
      last: fc.constantFrom<Story>('complete', 'under way'),
      isOld: fc.constant(false),
    });
    const ofRetention = fc.record({
      stories: fc.array(fc.constantFrom<Story>('complete', 'killed', 'record gone', 'objects gone', 'gone'), {
        minLength: 3,
        maxLength: 3,
      }),
      last: fc.constant<Story>('complete'),
      isOld: fc.constant(true),
    });
    await fc.assert(
      fc.asyncProperty(fc.oneof(ofKills, ofRetention), async ({ stories, last, isOld }) => {
        const archive = await ArchiveFixture.create();
        for (const [at, story] of [...stories, last].entries()) await live(archive, hours[at] ?? 11, story);
        const now = isOld ? longAfter : new Date();
        const { result } = await runVerify(archive.folder, [], now);
        expect(result.findings.filter(({ kind }) => kind !== 'pending' && kind !== 'absent')).toEqual([]);
        const each = new Map(
          lines.flatMap(({ argsOf }) => places.map((place) => [argsOf(place).join(' '), argsOf(place)])),
        );
        for (const args of each.values()) {
          // A part is excused by a sealed retention alone, and nothing here is sealed.
          if (args[0] === 'export') continue;
          const { code, out, err } = await runCollector([...args, '--archive', archive.folder], { now });
          expect([args, err]).toEqual([args, expect.not.stringMatching(damage)]);
          expect(err).not.toContain('unreadable');
          // A difference is 1, and what is stale; and 3 that there is nothing to show.
          const isOther = ['diff', 'grep'].includes(args[0] ?? '') || args.includes('--stale');
          if (out !== '' && !isOther) expect([args, code, err]).toEqual([args, 0, err]);
        }
      }),
      rounds(20),
    );
  });

  it('is what an attempt left that was killed, if a later one failed, and the command says so', async () => {
    const archive = await ArchiveFixture.create();
    const place = { at: 9, cluster: 'a', resource: 'log' } as const;
    await plant(archive, place);
    const answer = (): Answer => ({ failed: 'GET it failed: 503' });
    await archive.attempt({ run: hour(9), clusters, answer });
    const at = hour(9).toISOString();
    const show = ['show', 'a', '--resource', 'log', '--run', at, '--archive', archive.folder];
    const note = expect.stringContaining('complete the run');
    expect(await runCollector(show, { now: longAfter })).toMatchObject({ code: 0, err: note });
    await plant(archive, place);
    const damage = expect.stringContaining('the run record says: failed');
    expect(await runCollector(show, { now: longAfter })).toMatchObject({ code: 1, err: damage });
  });

  it('is excused by the retention that seals have, not by one that a configuration claims', async () => {
    const archive = await ArchiveFixture.create();
    const answer = (cluster: string, resource: FirstResource): Answer => ({
      content: contentOf({ at: 9, cluster, resource }),
    });
    await archive.attempt({ run: hour(9), clusters, answer });
    await archive.attempt({ run: hour(10), clusters, answer, configuration: { retentionDays: 1 } });
    await rm(join(archive.folder, runRecordKey({ run: hour(9), attempt: 1 })));
    const show = () =>
      runCollector(['show', 'a', '--run', hour(9).toISOString(), '--archive', archive.folder], { now: longAfter });
    expect(await show()).toMatchObject({ code: 0, err: expect.stringContaining('its run record has expired') });
    await new SealFixture(archive).seal({ at: hour(11) });
    expect(await show()).toMatchObject({
      code: 1,
      err: expect.stringContaining(problems.unrecorded),
    });
  });
});

type Story = 'complete' | 'retried' | 'killed' | 'under way' | 'record gone' | 'objects gone' | 'gone';

/** What became of one run. */
async function live(archive: ArchiveFixture, at: number, story: Story): Promise<void> {
  const attempt = { run: hour(at), clusters, configuration: { retentionDays: 30 } };
  const archived = (cluster: string, resource: FirstResource): Answer => ({
    content: contentOf({ at, cluster, resource }),
  });
  const remove = (key: string) => rm(join(archive.folder, key));
  const record = runRecordKey({ run: hour(at), attempt: 1 });
  const isLater = story === 'retried';
  await archive.attempt({
    ...attempt,
    answer: (cluster, resource) => (isLater && cluster === 'b' ? { failed: 'no answer' } : archived(cluster, resource)),
  });
  if (story === 'retried')
    await archive.attempt({
      ...attempt,
      attempt: 2,
      clusters: ['b'],
      answer: archived,
    });
  if (story === 'killed') {
    await remove(record);
    await archive.attempt({ ...attempt, answer: () => ({ alreadyArchived: 'without hash' }) });
  }
  if (story === 'under way' || story === 'record gone' || story === 'gone') await remove(record);
  if (story === 'objects gone' || story === 'gone')
    for (const cluster of clusters)
      for (const resource of firstResources) await remove(keyOf(resource, cluster, hour(at)));
}
