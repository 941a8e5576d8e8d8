import type { Check } from '../../../cli/doctor/check';
import { FolderStore } from '../../../local/aws/store/folder-store';
import { useLocalCollector } from '../../end-to-end/local-collector';
import { newFolder } from '../../support/new-folder';
import { runCollector } from '../run-collector';
import { writeStartConfig } from '../run-start';
import { startControlPlane } from '../stack/control-plane';
import { accessDenied, failure } from '../stack/live-account';

const clusters = { from: 's3://inventory/fleet.json' };
const collector = useLocalCollector({ clusters });
const root = newFolder();

it('doctor reads the list of clusters as the function would, and says how it differs from the list in force', async () => {
  const inventory = new FolderStore(root);
  const write = (list: unknown) =>
    inventory.put('fleet.json', Buffer.from(JSON.stringify(list)), { contentType: 'application/json' });
  const deployed = await collector.deploy({ otherBuckets: [{ name: 'inventory', folder: root }] });
  const plane = await startControlPlane(deployed);
  const doctor = async (from = clusters) => {
    const members = { name: 'my-collector', service: { baseUrl: collector.demo.url }, clusters: from };
    const args = ['doctor', '--json', '--config', await writeStartConfig(root, members)];
    const surroundings = { environment: {}, interruption: () => new AbortController().signal, wait: async () => {} };
    const { out } = await runCollector(args, { now: new Date() }, surroundings);
    const { checks } = JSON.parse(out) as { checks: Check[] };
    return checks.find(({ what }) => what === 'list of clusters');
  };
  const act = 'use credentials that may read it, list its bucket, and read the run records';
  const unseen = { verdict: 'not seen', act, found: expect.stringContaining('403 AccessDenied') };
  try {
    // These credentials may not list the bucket: nobody can tell whether it is there.
    expect(await doctor()).toMatchObject(unseen);
    plane.instead = (call) => (call === 's3:GET' ? failure(call, 'NoSuchKey', 404) : undefined);
    expect(await doctor()).toMatchObject({
      verdict: 'wrong',
      found: expect.stringContaining('Nobody is left to collect'),
    });
    plane.instead = () => undefined;
    await write(['a', 'b']);
    await deployed.invoke({});
    expect(await doctor()).toMatchObject({
      verdict: 'right',
      found: expect.stringMatching(
        /^s3:\/\/inventory\/fleet\.json: 2 clusters, written 20.*, as the list in force\. It was/,
      ),
    });
    await write(['b', 'c']);
    expect((await doctor())?.found).toContain(
      'the next run changes the list in force: +1 −0 clusters: +c; 1 leaving: a',
    );
    await write([]);
    expect(await doctor()).toMatchObject({
      verdict: 'wrong',
      found: expect.stringContaining('expected at least one cluster'),
    });
    for (const call of ['s3:GET', 's3:List']) {
      plane.instead = (one) => (one === call ? accessDenied(call) : undefined);
      expect(await doctor()).toMatchObject(unseen);
    }
    // They may list the run records, and read none: the function may read what it is refused here.
    await write(['b', 'c']);
    for (const prefix of ['runs/', 'configurations/']) {
      plane.instead = (one, path) => (one === 's3:GET' && path.includes(`/${prefix}`) ? accessDenied(one) : undefined);
      expect(await doctor()).toMatchObject(unseen);
    }
    plane.instead = () => undefined;
    const own = await doctor({ from: `s3://${deployed.bucket}/runs/list.json` });
    expect(own).toMatchObject({ verdict: 'wrong', found: expect.stringContaining("it lies in the archive's bucket") });
  } finally {
    await plane.close();
  }
});
