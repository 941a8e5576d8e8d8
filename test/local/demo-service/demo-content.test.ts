import { demoContent, demoLog, demoManifest } from '../../../local/demo-service/demo-content';

const noon = Date.parse('2026-11-20T12:00:00.000Z');
const at = (minutes: number) => new Date(noon + minutes * 60_000);
const uids = Array.from({ length: 12 }, (_, index) => `cluster-${index}`);
const few = uids.slice(0, 4);

describe('the content of the demo', () => {
  it('content is the same for the same uid and time, and differs between uids, as states do', async () => {
    for (const content of [demoLog, demoManifest]) {
      expect(content('a', at(0))).toBe(content('a', at(0)));
      expect(content('a', at(0))).not.toBe(content('b', at(0)));
    }
    const [one, other] = [demoContent(), demoContent()];
    expect(await one.log('a', at(3))).toEqual(await other.log('a', at(3)));
    const states = await Promise.all(uids.map(async (uid) => (await one.log(uid, at(0)))?.state));
    expect(new Set(states).size).toBeGreaterThan(1);
  });

  it('logs are some 10 to 200 KB and manifests 5 to 30 KB, at any time', () => {
    for (const uid of few) {
      for (const minutes of [0, 180, 359]) {
        const [log, manifest] = [demoLog(uid, at(minutes)), demoManifest(uid, at(minutes))].map((text) =>
          Buffer.byteLength(text),
        );
        expect(log).toBeGreaterThan(10_000);
        expect(log).toBeLessThan(200_000);
        expect(manifest).toBeGreaterThan(5_000);
        expect(manifest).toBeLessThan(30_000);
      }
    }
  });

  it('every line of a log carries a time, in order, none after the time it was asked for', () => {
    for (const uid of few) {
      const times = demoLog(uid, at(7))
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ')[0] ?? '');
      expect(times.filter((time) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time))).toEqual([]);
      expect(times).toEqual([...times].sort());
      expect((times.at(-1) ?? '') <= at(7).toISOString()).toBe(true);
    }
  });

  it('trouble is in every log, and in few of its lines', () => {
    for (const uid of uids) {
      const lines = demoLog(uid, at(0)).split('\n');
      const troubles = lines.filter((line) => line.includes('slow disk'));
      expect(troubles.length).toBeGreaterThan(0);
      expect(troubles.length).toBeLessThan(lines.length / 25);
    }
  });

  it('a log grows at its end, and loses its oldest part only when it is rotated', () => {
    let rotations = 0;
    for (const uid of few) {
      let before = demoLog(uid, at(0));
      for (let minutes = 180; minutes <= 720; minutes += 180) {
        const after = demoLog(uid, at(minutes));
        if (!after.startsWith(before)) {
          rotations += 1;
          const kept = before.slice(before.indexOf(after.slice(0, 300)));
          expect(after.startsWith(kept)).toBe(true);
          expect(kept.length).toBeGreaterThan(0);
        }
        expect(after).not.toBe(before);
        before = after;
      }
    }
    expect(rotations).toBe(few.length * 2);
  });

  it('from one minute to the next some manifests change, in versions or replicas alone, and some do not', () => {
    const neutral = (text: string) => text.replace(/(image: .*:).*/g, '$1').replace(/(replicas: ).*/g, '$1');
    const pairs = uids.map((uid) => [demoManifest(uid, at(0)), demoManifest(uid, at(1))] as const);
    const changed = pairs.filter(([before, after]) => before !== after);
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.length).toBeLessThan(uids.length);
    for (const [before, after] of pairs) expect(neutral(after)).toBe(neutral(before));
    const versions = new Set(
      Array.from({ length: 48 }, (_, hour) =>
        demoManifest('a', at(hour * 60))
          .match(/image: .*/g)
          ?.join(),
      ),
    );
    expect(versions.size).toBeGreaterThan(1);
  });

  it('a manifest is made of YAML documents with a kind and a name each', () => {
    const documents = demoManifest('we"ird\nuid', at(0))
      .split(/^---\n/m)
      .slice(1);
    expect(documents.length).toBeGreaterThan(10);
    expect(documents.filter((text) => !/^kind: [A-Z]\w+$/m.test(text) || !/^ {2}name: \S+$/m.test(text))).toEqual([]);
    expect(documents[0]).toContain('name: "we\\"ird\\nuid"');
  });
});
