import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alarmsGuide } from '../infra/guides';
import { findCommand, type MotoServer, startMoto } from '../local/aws/moto-server';
import { newFolder } from '../support/new-folder';

/** The commands of the guide, by what is on top of the right version. */
const commands = Object.fromEntries(
  [...alarmsGuide.matchAll(/^\| (a delete marker|a wrong version) \| `(aws .*)` \|$/gm)].map(
    ([, top = '', command]) => [top, command ?? ''],
  ),
);
const copyCommand = /`(aws s3api copy-object [^`]*)`/.exec(alarmsGuide)?.[1] ?? '';

const [motoCommand, awsCommand] = [findCommand('moto_server'), findCommand('aws')];

(motoCommand === undefined || awsCommand === undefined ? describe.skip : describe)(
  'bringing back the right version in moto (skipped where moto_server or aws is not in the PATH)',
  () => {
    const folder = newFolder();
    let moto: MotoServer;

    beforeAll(async () => {
      moto = await startMoto(motoCommand ?? '');
    });
    afterAll(async () => {
      await moto.stop();
    });

    /** What a shell prints; the command has to succeed. */
    function shell(command: string): string {
      const variables = {
        AWS_ENDPOINT_URL: moto.url,
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 's',
        AWS_DEFAULT_REGION: 'us-east-1',
        AWS_PAGER: '',
      };
      const env = { ...process.env, ...variables };
      const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { cwd: folder, env });
      if (status !== 0) throw new Error(`${command}: ${stderr}`);
      return stdout.toString().trim();
    }

    function put(bucket: string, key: string, text: string): string {
      writeFileSync(join(folder, 'body'), text);
      const attributes = '--metadata sha256=right --query VersionId --output text';
      return shell(`aws s3api put-object --bucket ${bucket} --key ${key} --body body ${attributes}`);
    }

    function get(bucket: string, key: string): { text: string; answer: { Metadata: object } } {
      const answer = JSON.parse(shell(`aws s3api get-object --bucket ${bucket} --key ${key} got`));
      return { text: readFileSync(join(folder, 'got'), 'utf8'), answer };
    }

    it('of an object', () => {
      const [bucket, key] = ['archive', 'seals/object'];
      const fill = (command = '', id = '') =>
        command
          .replaceAll('BUCKET', bucket)
          .replaceAll('KEY', key)
          .replace(/ID-OF-THE-[A-Z-]+/, id);
      shell(`aws s3api create-bucket --bucket ${bucket} --object-lock-enabled-for-bucket`);
      const right = put(bucket, key, 'right');

      shell(`aws s3api delete-object --bucket ${bucket} --key ${key}`);
      expect(() => get(bucket, key)).toThrow('NoSuchKey');
      const listed = JSON.parse(shell(`aws s3api list-object-versions --bucket ${bucket} --prefix ${key}`));
      shell(fill(commands['a delete marker'], listed.DeleteMarkers[0].VersionId));
      expect(get(bucket, key).text).toBe('right');

      shell(fill(commands['a wrong version'], put(bucket, key, 'wrong')));
      expect(get(bucket, key).text).toBe('right');

      // What a compliance lock leaves: the wrong version stays below.
      put(bucket, key, 'wrong');
      shell(fill(copyCommand, right));
      expect(get(bucket, key)).toMatchObject({ text: 'right', answer: { Metadata: { sha256: 'right' } } });
    });
  },
);
