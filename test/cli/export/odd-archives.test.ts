import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Finding } from '../../../archive/format/finding';
import { runRecordKey, sealKey } from '../../../archive/format/keys';
import { sha256Of } from '../../../archive/format/seal-file';
import { newFolder } from '../../support/new-folder';
import { hour, keyOf } from '../archive-fixture';
import { damageOf, hasPython, putBytes, readFolders, sealedAndStamped, verifyFolder } from './second-reader';

const record = runRecordKey({ run: hour(11), attempt: 1 });
const second = runRecordKey({ run: hour(8), attempt: 2 });
const manifest = keyOf('manifest', 'beta', hour(8));
const [log, other] = [keyOf('log', 'beta', hour(11)), keyOf('log', 'Ölfeld/3', hour(11))];
const [seal, stamp] = [sealKey(3), sealKey(1).replace('jsonl', 'one.tsr')];

type Change = (folder: string) => void;

/** Writes what becomes of a file, as somebody does who may write to the archive: its checksum is right, and bytes are latin1. */
const edit =
  (key: string, change: (text: string) => string, name = key): Change =>
  (folder) => {
    const about = join(folder, 'metadata', `${key}.json`);
    const before = readFileSync(join(folder, key), 'latin1');
    const bytes = Buffer.from(change(before), 'latin1');
    if (name === key && before === bytes.toString('latin1')) throw new Error(`${key} did not change`);
    putBytes(folder, name, bytes, existsSync(about) ? JSON.parse(readFileSync(about, 'utf8')) : {});
  };
const replace = (key: string, from: string | RegExp, to: string) => edit(key, (text) => text.replace(from, () => to));
const member = (json: string) => replace(record, '"trigger"', `${json},"trigger"`);
const requests = (number: string) => replace(record, '"requests":1', `"requests":${number}`);
const finished = (time: string) => replace(record, /"finishedAt":"[^"]*"/, `"finishedAt":"${time}"`);
const fetched = (time: string) => replace(record, /"fetchedAt":"[^"]*"/, `"fetchedAt":"${time}"`);
const copy = (key: string, name: string) => edit(key, (text) => text, name);
const gzip = (change: (stored: Buffer) => Buffer) =>
  edit(log, (text) => change(Buffer.from(text, 'latin1')).toString('latin1'));
/** Changes what is known of a log beside its bytes. */
const about =
  (from: string | RegExp, to: string, key = log): Change =>
  (folder) => {
    const path = join(folder, 'metadata', `${key}.json`);
    const text = readFileSync(path, 'latin1');
    writeFileSync(path, text.replace(from, to), 'latin1');
    if (text === readFileSync(path, 'latin1')) throw new Error(`what is known of ${key} did not change`);
  };
/** Puts a link in the place of what lies there, which goes elsewhere. */
const link =
  (key: string): Change =>
  (folder) => {
    renameSync(join(folder, key), join(folder, '.metadata-keys'));
    symlinkSync(join(folder, '.metadata-keys'), join(folder, key));
  };
const configuration = (json: string): Change => {
  const text = Buffer.from(json, 'latin1');
  return (folder) => writeFileSync(join(folder, `configurations/${sha256Of(text)}.json.gz`), gzipSync(text));
};
const schedule = '"schedule":{"expression":"cron(0 * * * ? *)","timeZone":"Etc/UTC","enabled":true}';

const damagedRecord = `damaged ${record}`;
const damagedLog = `damaged ${log}`;

/** Each is what a random change of bytes hardly ever makes, and what both readers have to find in it. */
const odd: Readonly<Record<string, readonly [Change, ...(string | RegExp)[]]>> = {
  'lines that end with CR LF': [replace(record, /\n/g, '\r\n'), damagedRecord],
  'a byte order mark': [edit(record, (text) => `\xef\xbb\xbf${text}`), damagedRecord],
  'a line that is empty': [edit(record, (text) => `${text}\n`), damagedRecord],
  'a last line without LF': [edit(record, (text) => text.slice(0, -1)), damagedRecord],
  'spaces around JSON': [edit(record, (text) => ` \t${text.replace('\n', ' \n')}`)],
  'a member twice, the first one wrong': [member('"status":"incomplete"')],
  'a member twice, the last one wrong': [
    replace(record, '"counts"', '"status":"incomplete","counts"'),
    'contradiction',
  ],
  'a number with a fraction of nothing': [replace(record, '"attempt":1', '"attempt":1.0')],
  'a number with an exponent': [replace(record, '"attempt":1', '"attempt":10E-1')],
  'a number below zero by its sign alone': [requests('-0')],
  'a number that is not whole': [requests('1.5'), damagedRecord],
  'a number below zero': [replace(record, '"httpStatus":200', '"httpStatus":-200'), damagedRecord],
  'a number that no double has': [requests('9007199254740993'), damagedRecord],
  'a number beyond all doubles': [requests('1e400'), damagedRecord],
  'a number with a zero before it': [requests('01'), damagedRecord],
  'a number of 5,000 digits where nobody looks': [member(`"x":${'9'.repeat(5000)}`)],
  'NaN where nobody looks': [member('"x":NaN'), damagedRecord],
  'true in place of 1': [replace(record, '"version":1', '"version":true'), damagedRecord],
  'null in place of nothing': [member('"stopped":null'), damagedRecord],
  'half a surrogate': [replace(record, '"invocation":"', '"invocation":"\\ud800')],
  'half a surrogate in a key': [replace(record, 'logs/cluster=beta', 'logs/cluster=\\udc00'), /^unrecorded /],
  NUL: [replace(record, '"invocation":"', '"invocation":"\\u0000')],
  'a tab in a text': [replace(record, '"invocation":"', '"invocation":"\t'), damagedRecord],
  'bytes that are not UTF-8': [replace(record, '"invocation":"', '"invocation":"\xed\xa0\x80'), damagedRecord],
  'a hash in capitals': [replace(record, /"sha256":"[^"]*"/, `"sha256":"${'A'.repeat(64)}"`), damagedRecord],
  'a month that there is not': [finished('2026-13-20T11:00:00.000Z'), damagedRecord],
  'a day that its month does not have': [fetched('2026-02-30T11:00:00.000Z'), damagedRecord],
  'an hour 24': [finished('2026-11-20T24:00:00.000Z'), damagedRecord],
  'a year 0': [fetched('0000-11-20T11:00:00.000Z'), damagedRecord],
  'a key that leads out of the archive': [replace(record, /"key":"logs\/cluster=b[^"]*"/, '"key":"../x"'), /^unrec/],
  'an attempt 0': [copy(record, record.replace('attempt-1', 'attempt-0')), /^damaged .*attempt-0/],
  'an attempt with a needless zero': [copy(record, record.replace('attempt-1', 'attempt-01')), /^unrecorded /],
  'an attempt of ten digits': [copy(record, record.replace('attempt-1', 'attempt-3000000000')), /^unrecorded /],
  'a run of the year 0': [copy(record, 'runs/date=0000-11-20/00001120T110000.000Z.attempt-1.jsonl'), /^unrecorded /],
  'a doubt that came late': [
    replace(
      record,
      /("resource":"log")/,
      '"resource":"log","doubt":"another answer of the same attempt belongs to another cluster"',
    ),
  ],
  'a doubt that does not come late': [
    replace(record, /("resource":"log")/, '"resource":"log","doubt":"another answer belongs to another cluster"'),
    'contradiction',
  ],
  'a record that is a link': [link(record), damagedRecord],

  'gzip with something behind it': [gzip((stored) => Buffer.concat([stored, Buffer.from('x')])), damagedLog],
  'gzip with zeros behind it': [gzip((stored) => Buffer.concat([stored, Buffer.alloc(5)])), damagedLog],
  'gzip of two members': [gzip((stored) => Buffer.concat([gzipSync(''), stored])), 'contradiction'],
  'no gzip': [gzip(gunzipSync), damagedLog],
  'no bytes': [gzip(() => Buffer.alloc(0)), damagedLog],
  'an object that is a link': [link(log), damagedLog],
  'objects behind a link': [link('logs/cluster=beta'), 'unrecorded logs/cluster=beta/'],
  'links outside': [link('runs'), /^missing/, 'unrecorded runs/'],
  'a folder in the place of a description': [
    (folder) => {
      rmSync(join(folder, 'metadata', `${log}.json`));
      mkdirSync(join(folder, 'metadata', `${log}.json`));
    },
    damagedLog,
  ],
  'a description that is a link': [link(`metadata/${log}.json`), damagedLog],
  'a description with a byte order mark': [about(/^/, '\xef\xbb\xbf'), damagedLog],
  'a description that is not UTF-8': [about('"etag":"', '"etag":"\xff'), damagedLog],
  'a description of a time that there is not': [about(/("lastModified":"2026)[^T]*/, '$1-02-30'), damagedLog],
  'a description with a member twice': [about(/\}$/, ',"etag":5}'), damagedLog],
  'a checksum that is wrong, of what only a damaged record names': [
    (folder) => {
      replace(second, '"version":1', '"version":2')(folder);
      about(/"crc32":"[^"]*"/, '"crc32":"AAAAAA=="', manifest)(folder);
    },
    `damaged ${manifest}`,
  ],
  'a run in other letters': [about(/("run":"[^"]*)Z"/, '$1z"'), damagedLog],
  'a time of fetching that there is not': [about(/("fetched-at":"2026)[^T]*/, '$1-11-31'), damagedLog],
  'a uid that needed no encoding': [about('"cluster-uid":"beta"', '"cluster-uid":"%62eta"'), damagedLog],
  'a uid encoded in small letters': [about('%C3%96', '%c3%96', other), `damaged ${other}`],
  'metadata of another version than the record': [about('"version":"', '"version":"9'), 'contradiction'],
  'a length with a needless zero': [about('"length":"', '"length":"0'), damagedLog],

  'a key with an encoding that its name does not need': [
    copy(log, log.replace('beta', '%62eta')),
    /^unrecorded logs\/cluster=%62eta\//,
  ],
  'a key that is a link to itself': [
    (folder) => {
      rmSync(join(folder, log));
      symlinkSync(join(folder, log), join(folder, log));
    },
    damagedLog,
  ],
  'a description whose type is not a text': [about(/"contentType":"[^"]*"/, '"contentType":5'), damagedLog],
  'a description that is longer than 64 KiB': [about(/\}$/, `,"x":"${'x'.repeat(65_536)}"}`), damagedLog],
  'content that is longer than its metadata says': [
    gzip((stored) => gzipSync(Buffer.concat([gunzipSync(stored), Buffer.alloc(1e6)]))),
    damagedLog,
  ],
  'two records that both archived an object': [
    edit(runRecordKey({ run: hour(11), attempt: 2 }), (text) =>
      text
        .replaceAll('"outcome":"already-archived"', '"outcome":"archived"')
        .replace(/"archived":0,"alreadyArchived":(\d+)/, '"archived":$1,"alreadyArchived":0'),
    ),
    'contradiction',
  ],
  'a key encoded in small letters': [copy(other, other.replace('%C3%96', '%c3%96')), /^unrecorded .*%c3%96/],
  'a key that is not encoded': [copy(other, other.replace('%C3%96', 'Ö')), /^unrecorded .*Ö/],
  'a key in another normal form': [copy(other, other.replace('%C3%96', 'O%CC%88')), /^unrecorded .*O%CC%88/],
  'a key with a slash that is not encoded': [copy(other, other.replace('%2F', '/')), /^unrecorded .*lfeld\/3/],
  'a key with a NUL': [copy(log, log.replace('beta', 'b%00')), /^unrecorded .*b%00/],
  'a name of 251 bytes': [copy(log, log.replace('beta', 'b'.repeat(243))), /^unrecorded logs\/cluster=b{243}\//],
  'a folder outside': [
    (folder) => cpSync(join(folder, 'seals'), join(folder, 'x'), { recursive: true }),
    'unrecorded x/*',
  ],
  'what file managers leave': [
    (folder) => {
      for (const name of ['.DS_Store', 'logs/Thumbs.db', 'seals/._x']) writeFileSync(join(folder, name), 'x');
      mkdirSync(join(folder, 'runs/@eaDir'));
      writeFileSync(join(folder, 'runs/@eaDir/x'), 'x');
    },
  ],
  'folders without a file': [(folder) => mkdirSync(join(folder, 'x/y'), { recursive: true })],

  'a configuration that is not UTF-8': [configuration(`{"x":"\xff","clusters":[],${schedule}}`), /^damaged conf/],
  'a configuration of a cluster without uid': [configuration(`{"clusters":[{}],${schedule}}`), /^damaged conf/],
  'a configuration that nobody names': [configuration(`{"clusters":[],${schedule}}`)],

  'a seal that ends with CR LF': [edit(seal, (text) => text.replace(/\n$/, '\r\n')), `seal-broken ${seal}`],
  'base64 without padding': [replace(seal, '==","sig', '","sig'), `seal-broken ${seal}`],
  'base64 with other unused bits': [
    edit(seal, (text) => text.replace(/.(?===",)/, (last) => String.fromCharCode(last.charCodeAt(0) + 1))),
    `seal-broken ${seal}`,
  ],
  'base64 with more padding': [edit(seal, (text) => text.replace(/"\}\n$/, '="}\n')), `seal-broken ${seal}`],
  'a seal 0': [copy(seal, 'seals/00000000.jsonl'), 'unrecorded seals/00000000.jsonl'],
  'a state that is a link': [
    (folder) => {
      const [state = ''] = readdirSync(join(folder, 'seals/states'));
      link(`seals/states/${state}`)(folder);
    },
    /^seal-broken seals\/states/,
  ],
  'a stamp with something behind it': [
    edit(stamp, (text) => `${text}x`, stamp.replace('one', 'two')),
    /^seal-broken .*two/,
  ],
  'a stamp whose description is damaged': [about(/^.*$/s, 'no JSON', stamp), `seal-broken ${stamp}`],
};

describe('an odd archive', () => {
  const names = Object.keys(odd);
  const work = newFolder();
  let judged: Finding[][] = [];

  beforeAll(async () => {
    const { archive } = await sealedAndStamped();
    const folders = names.map((name) => join(work, name));
    for (const [at, [change]] of Object.values(odd).entries()) {
      cpSync(archive.folder, folders[at] ?? '', { recursive: true });
      change(folders[at] ?? '');
    }
    if (hasPython) judged = readFolders(folders);
  });

  it.each(names)('is the same to both readers: %s', async (name) => {
    const [, ...expected] = odd[name] ?? [];
    const found = damageOf(await verifyFolder(join(work, name)));
    if (expected.length === 0) expect(found).toEqual([]);
    for (const one of expected)
      expect(found).toContainEqual(typeof one === 'string' ? one : expect.stringMatching(one));
    if (hasPython) expect(damageOf(judged[names.indexOf(name)] ?? [])).toEqual(found);
  });
});
