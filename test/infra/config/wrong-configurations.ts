import { minimal } from '../example-config';

const account = '111111111111';
const region = 'eu-central-1';
const key = 'arn:aws:kms:eu-central-1:111111111111:key/11111111-2222-3333-4444-555555555555';
const chinese = key.replace('aws', 'aws-cn').replace(region, 'cn-north-1');
const topicArn = 'arn:aws:sns:eu-central-1:111111111111:on-call';
const bucketArn = 'arn:aws:s3:::copies';
const authority = { name: 'one', url: 'https://stamps.example.org' };
const elsewhere = { account, region: 'us-east-1' };

/** What the members below are put into. */
const whole = {
  ...minimal,
  audit: { schedule: 'cron(30 6 * * ? *)' },
  network: { subnetIds: ['subnet-12345678'], securityGroupIds: ['sg-12345678'] },
};

/**
 * Wrong values of members: the member, its value, what the problem expects, and where in the value it is. Without a member:
 * several members.
 */
const wrong: [member: string, value: unknown, expected: RegExp, inside?: string][] = [
  ['name', '1 stack', /a stack name: a letter, then/],
  ['name', 7, /a stack name/],
  ['service', undefined, /an object/],
  ['servce', {}, /one of \$schema, name, service,/],
  ['schedule.timezone', 'UTC', /timeZone/],
  ['service.baseUrl', 'http://clusters.example.com', /https \(http only towards loopback/],
  ['service.baseUrl', 'http://127.0.0.1.example.com', /https/],
  ['service.baseUrl', 'ftp://clusters.example.com', /https/],
  ['service.baseUrl', 'clusters.example.com', /an absolute URL/],
  ['service.baseUrl', ' https://clusters.example.com', /an absolute URL/],
  ['service.baseUrl', 'https://me:hidden@clusters.example.com', /no credentials/],
  ['service.baseUrl', 'https://clusters.example.com/?', /without query or fragment/],
  ['service.baseUrl', 'https://clusters.example.com/#', /without query or fragment/],
  ['service.baseUrl', 'https://a.example/v1/', /^"https:\/\/a\.example": every request adds \/v1 itself$/],
  ['service.baseUrl', 'https://a.example/x/V1', /^"https:\/\/a\.example\/x": every request adds/],
  [
    'service.baseUrl',
    'https://a.example/v1/platformclusters',
    /"https:\/\/a\.example": .* \/v1\/platformclusters itself$/,
  ],
  ['service', { baseUrl: 'https://a.example/v1/mine', collection: 'mine' }, /adds \/v1\/mine itself$/, '.baseUrl'],
  ['service.collection', 'a/b', /one plain path segment/],
  ['service.collection', '..', /one plain path segment/],
  ['service.projectUid', 'a\r\nApiKey: b', /printable ASCII/],
  ['service.caCertificateFile', 'none.pem', /PEM/],
  ['clusters', [], /at least one cluster/],
  ['clusters', 'a', /a list of clusters/],
  ['clusters', ['a', 'b', { uid: 'a' }], /each uid once \(it is at \[0\] already\)/, '[2]'],
  ['clusters', [''], /not empty/, '[0]'],
  ['clusters', ['alpha '], /without a blank at either end/, '[0]'],
  ['clusters', [{ uid: '\nalpha' }], /without a blank/, '[0].uid'],
  ['clusters', ['.'], /other than "\." and "\.\."/, '[0]'],
  ['clusters', [{ uid: '..' }], /other than "\." and "\.\."/, '[0].uid'],
  ['clusters', ['a\ud800'], /lone surrogates/, '[0]'],
  ['clusters', ['a\nb'], /without control characters/, '[0]'],
  ['clusters', [{ uid: 'a\u2028b' }], /without control characters/, '[0].uid'],
  ['clusters', ['ü'.repeat(101)], /at most 200 bytes/, '[0]'],
  ['clusters', [7], /the uid of a cluster or an object/, '[0]'],
  ['clusters', [{ uid: 'a', resources: ['logs'] }], /log, manifest/, '[0].resources[0]'],
  ['clusters', [{ uid: 'a', resources: 'log' }], /a list of resources/, '[0].resources'],
  ['clusters', [{ uid: 'a', resources: [] }], /at least one resource/, '[0].resources'],
  ['clusters', [{ uid: 'a', resources: ['log', 'log'] }], /once/, '[0].resources'],
  ['clusters', [{ uid: 'a', projectuid: 'p' }], /projectUid/, '[0].projectuid'],
  ['clusters', { from: 'https://a.example/list.json' }, /s3:\/\/bucket\/key/, '.from'],
  ['clusters', { from: 's3://inventory/fleet/*' }, /a key of letters, digits and/, '.from'],
  ['clusters', { from: 's3://inventory/c.json', file: 'c.json' }, /one of from, kmsKeyArn/, '.file'],
  ['clusters', { from: 's3://inventory/c.json', leaveAfterDays: 31 }, /from 1 to 30/, '.leaveAfterDays'],
  ['clusters', { from: 's3://inventory/c.json', leaveAfterDays: 0 }, /from 1 to 30/, '.leaveAfterDays'],
  ['clusters', { from: 's3://inventory/c.json', exclude: [''] }, /not empty/, '.exclude[0]'],
  ['clusters', [{ uid: 'a', optional: 'yes' }], /true or false/, '[0].optional'],
  ['schedule.expression', 'rate(1 hour)', /rate\(\) fires at deployment/],
  ['schedule.expression', 'at(2026-11-20T10:00:00)', /at\(\) fires only once/],
  ['schedule.expression', 'cron(0 * * * ?)', /./],
  ['schedule.expression', '0 * * * ? *', /cron\(/],
  ['schedule.expression', 'cron(60 * * * ? *)', /minutes/],
  ['schedule.timeZone', 'Mars/Olympus', /an IANA time zone/],
  ['schedule.timeZone', 'europe/berlin', /an IANA time zone/],
  ['schedule.timeZone', 'Europe/berlin', /an IANA time zone/],
  ['schedule.timeZone', '+01:00', /an IANA time zone/],
  ['limits.concurrency', 0, /from 1 to 255/],
  ['limits', { concurrency: 256, maxBodyMiB: 1 }, /from 1 to 255/, '.concurrency'],
  ['limits.concurrency', 1.5, /a whole number/],
  ['limits.requestsPerSecond', 0, /a number above 0/],
  ['limits', { concurrency: 64, maxBodyMiB: 153 }, /at most 152: concurrency \(64\) such bodies/, '.maxBodyMiB'],
  ['archive', { retentionDays: 10, objectLock: { days: 11 } }, /at least objectLock\.days \(11\)/, '.retentionDays'],
  ['archive.objectLock', { days: 1, mode: 'legal' }, /governance or compliance/, '.mode'],
  ['archive.objectLock', {}, /from 1/, '.days'],
  ['archive.formerKmsKeyArns', ['alias/old'], /KMS key/, '[0]'],
  ['archive.kms', chinese, /arn:aws:kms/],
  ['archive.kms', false, /true or the ARN of a KMS key/],
  ['archive.kms', 'alias/mine', /arn:aws:kms/],
  ['archive.replicateTo.bucketArn', 'copies', /the ARN of a bucket/],
  ['archive.replicateTo', { bucketArn, account: '1' }, /12 digits/, '.account'],
  ['archive.replicateTo', { bucketArn, kmsKeyArn: key }, /no key, because/, '.kmsKeyArn'],
  ['archive', { kms: true, replicateTo: { bucketArn } }, /the key that encrypts the copies/, '.replicateTo.kmsKeyArn'],
  ['', { deployTo: elsewhere, archive: { kms: key } }, /a key in the region us-east-1/, 'archive.kms'],
  ['apiKeySecret', 'arn:aws:secretsmanager:a:1:secret:b', /not its ARN/],
  ['alerts.page.emails', ['@example.com'], /an e-mail address/, '[0]'],
  ['alerts.page.emails', ['a@b.org', 'b@b.org', 'A@b.org'], /each address once \(it is at \[0\] already\)/, '[2]'],
  ['alerts.page.topicArn', 'on-call', /the ARN of a standard SNS topic/],
  ['alerts.page.topicArn', `${topicArn}.fifo`, /standard/],
  ['alerts.page.kmsKeyArn', key, /no key, because topicArn is not set/],
  ['alerts.emails', ['a@b.org'], /one of page, inform, pageFrom, heartbeat/],
  ['alerts', { page: {}, inform: { kmsKeyArn: key } }, /no key, because topicArn is not set/, '.inform.kmsKeyArn'],
  [
    '',
    { deployTo: elsewhere, alerts: { page: { topicArn } } },
    /a topic in the account \d+ and the region/,
    'alerts.page.topicArn',
  ],
  [
    '',
    { deployTo: { account: '333333333333', region }, alerts: { page: { topicArn } } },
    /a topic in/,
    'alerts.page.topicArn',
  ],
  ['', { deployTo: elsewhere, alerts: { page: {}, inform: { topicArn } } }, /a topic in/, 'alerts.inform.topicArn'],
  ['deployTo', { region, account: 'prod' }, /12 digits/, '.account'],
  ['deployTo', { account }, /the name of a region/, '.region'],
  ['deployTo', { account, region: 'europe' }, /such as eu-central-1/, '.region'],
  ...['cn-north-1', 'us-gov-west-1', 'us-iso-east-1', 'us-isob-east-1', 'eu-isoe-west-1', 'eusc-de-east-1'].map(
    (other): (typeof wrong)[number] => [
      'deployTo',
      { account, region: other },
      /of the partition aws: .*"Other partitions"/,
      '.region',
    ],
  ),
  ['audit', {}, /a cron expression/, '.schedule'],
  ['audit', 'cron(30 6 * * ? *)', /an object/],
  ['audit.schedule', 'rate(1 day)', /rate\(\) fires at deployment/],
  ['audit.schedule', 'cron(0 24 * * ? *)', /hours/],
  ['audit.emails', [], /rereadDays, alarms/],
  ['audit.formerPublicKeys', [key], /a public key of the curve P-256/, '[0]'],
  ['audit.acknowledged', [{ kind: 'absent', key: 'x', why: 'x' }], /a kind of damage: seal-broken, forged/, '[0].kind'],
  ['audit.acknowledged', [{ kind: 'missing', key: 'x', why: '' }], /a reason/, '[0].why'],
  ['audit.acknowledged', [{ cluster: 'a', key: 'x', why: 'x' }], /one of cluster, from, to, why/, '[0].key'],
  ['audit.acknowledged', [{ why: 'x' }], /the uid of a cluster/, '[0].cluster'],
  ['audit.acknowledged', [{ key: 'x', why: 'x' }], /a kind of damage/, '[0].kind'],
  ['audit.acknowledged', [{ retentionDays: 4, from: '2026-01-01', why: 'x' }], /retentionDays, why/, '[0].from'],
  ['audit.acknowledged', [{ cluster: 'a', from: '2026-13-01', why: 'x' }], /a day such as/, '[0].from'],
  ['audit.acknowledged', [{ cluster: 'a', from: 'May', why: 'x' }], /a day such as/, '[0].from'],
  ['audit.rereadDays', true, /false or a whole number/],
  ['audit.signingKeyArn', 'alias/seals', /KMS key/],
  ['audit.timestamps', [{ ...authority, caCertificateFile: 'none.pem' }], /certificates that/, '[0].caCertificateFile'],
  ['archive.readers', ['arn:aws:iam::1:user/x'], /the ARN of a role/, '[0]'],
  ['alerts.pageFrom.missingPercent', 0, /above 0/],
  ['alerts.pageFrom.missingPercent', 101, /at most 100/],
  ['audit.rereadDays', 0.5, /a whole number from 1/],
  ['audit.alarms.staleAfterHours', 0, /from 1 to/],
  ['audit.alarms.frozenAfterHours', 0, /from 1 to/],
  ['audit.alarms.logGaps', 'yes', /true or false/],
  ['network.subnetIds', [], /at least one subnet/],
  ['network.subnetIds', ['sg-12345678'], /the id of a subnet: subnet- and/, '[0]'],
  ['tags', { 'aws:x': 'y' }, /does not start with "aws:"/, '["aws:x"]'],
  ['tags.team', 7, /text/],
  [
    '',
    { clusters: { from: 's3://copies/clusters.json' }, archive: { replicateTo: { bucketArn } } },
    /another bucket: nothing is ever overwritten in the copy/,
    'clusters.from',
  ],
  ['', { shards: 96, limits: { oneRunAtATime: true } }, /at most 95, because limits.oneRunAtATime is set/, 'shards'],
  [
    '',
    { shards: 2, alerts: { heartbeat: { secret: 'monitoring/heartbeat' } } },
    /no heartbeat, because shards is more than 1/,
    'alerts.heartbeat',
  ],
  ['alerts.heartbeat.secret', 'https://monitor.example/ping', /the name of a secret/],
  ['shards', 0, /from 1 to/],
];

/** A configuration, the path of its only problem, and what the problem expects. */
export const wrongConfigurations = wrong.map(([member, value, expected, inside = '']) => ({
  config: member === '' ? { ...whole, ...(value as object) } : put(whole, member.split('.'), value),
  path: member + inside,
  expected,
}));

function put(target: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  const former = (target as Record<string, object | undefined>)[name] ?? {};
  return { ...target, [name]: rest.length === 0 ? value : put(former, rest, value) };
}
