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
});
