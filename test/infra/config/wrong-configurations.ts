import { minimal } from '../example-config';

const deployTo = { account: '111111111111', region: 'eu-central-1' };
const key = keyArn('aws', 'eu-central-1');
const topic = 'arn:aws:sns:eu-central-1:111111111111:on-call';

/** What is wrong, the members that are wrong, the path of the problem, and what the message expects. */
export const wrongConfigurations: [string, Record<string, unknown>, string, RegExp][] = [
  ['a name that is no stack name', { name: '1 stack' }, 'name', /a stack name: a letter, then/],
  ['a name of another type', { name: 7 }, 'name', /the name of the stack/],
  ['no service', { service: undefined }, 'service', /an object/],
  ['an unknown member', { servce: {} }, 'servce', /one of \$schema, name, service,/],
  [
    'an unknown member further in',
    { schedule: { ...minimal.schedule, timezone: 'UTC' } },
    'schedule.timezone',
    /timeZone/,
  ],
  ...(
    [
      ['http to another machine', 'http://clusters.example.com', /https \(http only towards loopback/],
      ['http to a name that begins like loopback', 'http://127.0.0.1.example.com', /https/],
      ['another protocol', 'ftp://clusters.example.com', /https/],
      ['no URL', 'clusters.example.com', /an absolute URL/],
      ['a blank', ' https://clusters.example.com', /an absolute URL/],
      ['credentials', 'https://me:hidden@clusters.example.com', /no credentials/],
      ['a query', 'https://clusters.example.com/?', /without query or fragment/],
      ['a fragment', 'https://clusters.example.com/#', /without query or fragment/],
      ['the version', 'https://clusters.example.com/v1/', /without v1, .* adds: "https:\/\/clusters\.example\.com"$/],
      [
        'version and collection',
        'https://a.example/x/v1/platformclusters',
        /without v1\/platformclusters.* "https:\/\/a\.example\/x"$/,
      ],
      ['the collection', 'https://a.example/platformclusters', /without platformclusters, .*: "https:\/\/a\.example"$/],
    ] as const
  ).map(([what, baseUrl, expected]): [string, Record<string, unknown>, string, RegExp] => [
    `an address with ${what}`,
    { service: { baseUrl } },
    'service.baseUrl',
    expected,
  ]),
  [
    'an address with a collection of its own',
    { service: { baseUrl: 'https://a.example/v1/mine', collection: 'mine' } },
    'service.baseUrl',
    /without v1\/mine, /,
  ],
  ['the key', service({ apiKey: 'secret' }), 'service.apiKey', /^no key in this file: .*SetApiKey.*COLLECTOR_API_KEY/],
  ['a collection of two segments', service({ collection: 'a/b' }), 'service.collection', /one plain path segment/],
  ['a collection that goes up', service({ collection: '..' }), 'service.collection', /one plain path segment/],
  [
    'a project that no header carries',
    service({ projectUid: 'a\r\nApiKey: b' }),
    'service.projectUid',
    /printable ASCII/,
  ],
  [
    'a certificate file that is missing',
    service({ caCertificateFile: 'none.pem' }),
    'service.caCertificateFile',
    /PEM/,
  ],
  ['no cluster', { clusters: [] }, 'clusters', /at least one cluster/],
  ['clusters that are no list', { clusters: 'a' }, 'clusters', /a list of clusters/],
  ['a uid twice', { clusters: ['a', 'b', { uid: 'a' }] }, 'clusters[2]', /each uid once \(it is at \[0\] already\)/],
  ['an empty uid', { clusters: [''] }, 'clusters[0]', /not empty/],
  ['a uid with a blank behind it', { clusters: ['alpha '] }, 'clusters[0]', /without a blank at either end/],
  ['a uid with a line end before it', { clusters: [{ uid: '\nalpha' }] }, 'clusters[0].uid', /without a blank/],
  ['the uid .', { clusters: ['.'] }, 'clusters[0]', /other than "\." and "\.\."/],
  ['the uid ..', { clusters: [{ uid: '..' }] }, 'clusters[0].uid', /other than "\." and "\.\."/],
  ['a lone surrogate', { clusters: ['a\ud800'] }, 'clusters[0]', /lone surrogates/],
  ['a uid over 200 bytes', { clusters: ['ü'.repeat(101)] }, 'clusters[0]', /at most 200 bytes/],
  ['a uid of another type', { clusters: [7] }, 'clusters[0]', /the uid of a cluster or an object/],
  [
    'an unknown resource',
    { clusters: [{ uid: 'a', resources: ['logs'] }] },
    'clusters[0].resources[0]',
    /log, manifest/,
  ],
  ['no resource', { clusters: [{ uid: 'a', resources: [] }] }, 'clusters[0].resources', /at least one resource/],
  ['a resource twice', { clusters: [{ uid: 'a', resources: ['log', 'log'] }] }, 'clusters[0].resources', /once/],
  [
    'a misspelt member of a cluster',
    { clusters: [{ uid: 'a', projectuid: 'p' }] },
    'clusters[0].projectuid',
    /projectUid/,
  ],
  ['rate()', expression('rate(1 hour)'), 'schedule.expression', /rate\(\) fires at deployment/],
  ['at()', expression('at(2026-11-20T10:00:00)'), 'schedule.expression', /at\(\) fires only once/],
  ['a cron of five fields', expression('cron(0 * * * ?)'), 'schedule.expression', /./],
  ['a cron without its function', expression('0 * * * ? *'), 'schedule.expression', /cron\(/],
  ['a cron with an invalid minute', expression('cron(60 * * * ? *)'), 'schedule.expression', /minutes/],
  ['an unknown time zone', zone('Mars/Olympus'), 'schedule.timeZone', /an IANA time zone/],
  ['a time zone in another case', zone('europe/berlin'), 'schedule.timeZone', /an IANA time zone/],
  ['a time zone that is an offset', zone('+01:00'), 'schedule.timeZone', /an IANA time zone/],
  ['a concurrency of nothing', { limits: { concurrency: 0 } }, 'limits.concurrency', /from 1 to 255/],
  ['a concurrency too high', { limits: { concurrency: 256, maxBodyMiB: 1 } }, 'limits.concurrency', /from 1 to 255/],
  ['half a concurrency', { limits: { concurrency: 1.5 } }, 'limits.concurrency', /a whole number/],
  ['a rate of nothing', { limits: { requestsPerSecond: 0 } }, 'limits.requestsPerSecond', /a number above 0/],
  [
    'a time-out of nothing',
    { limits: { responseTimeoutSeconds: 0 } },
    'limits.responseTimeoutSeconds',
    /from 1 to 600/,
  ],
  [
    'bodies that do not fit',
    { limits: { concurrency: 64, maxBodyMiB: 256 } },
    'limits',
    /9728 MiB, .* lower concurrency to 38 or maxBodyMiB to 152$/,
  ],
  [
    'early infrequent access',
    { archive: { infrequentAccessAfterDays: 29 } },
    'archive.infrequentAccessAfterDays',
    /from 30/,
  ],
  [
    'an expiry before the move',
    { archive: { infrequentAccessAfterDays: 30, retentionDays: 30 } },
    'archive.retentionDays',
    /more days than infrequentAccessAfterDays \(30\)/,
  ],
  [
    'an expiry before the lock ends',
    { archive: { retentionDays: 10, objectLock: { days: 11 } } },
    'archive.retentionDays',
    /at least objectLock\.days \(11\)/,
  ],
  [
    'an unknown mode of the lock',
    { archive: { objectLock: { days: 1, mode: 'legal' } } },
    'archive.objectLock.mode',
    /governance or compliance/,
  ],
  ['a lock without days', { archive: { objectLock: {} } }, 'archive.objectLock.days', /from 1/],
  [
    'a former key by its alias',
    { archive: { formerKmsKeyArns: ['alias/old'] } },
    'archive.formerKmsKeyArns[0]',
    /KMS key/,
  ],
  ['a key of another partition', { archive: { kms: keyArn('aws-cn', 'cn-north-1') } }, 'archive.kms', /arn:aws:kms/],
  ['a copy to no bucket', copy({ bucketArn: 'copies' }), 'archive.replicateTo.bucketArn', /the ARN of a bucket/],
  ['a copy to no account', copy({ account: '1' }), 'archive.replicateTo.account', /12 digits/],
  [
    'a copy with a key of an archive without',
    copy({ kmsKeyArn: key }),
    'archive.replicateTo.kmsKeyArn',
    /no key, because/,
  ],
  [
    'a copy without a key of an archive with one',
    { archive: { kms: true, ...copy({}).archive } },
    'archive.replicateTo.kmsKeyArn',
    /the key that encrypts the copies/,
  ],
  [
    'a copy to an account that is the own one',
    { deployTo, ...copy({ account: deployTo.account }) },
    'archive.replicateTo.account',
    /another account/,
  ],
  ['an unknown compression', { archive: { compression: 'brotli' } }, 'archive.compression', /gzip or zstd/],
  ['false for a key', { archive: { kms: false } }, 'archive.kms', /true or the ARN of a KMS key/],
  ['a key by its alias', { archive: { kms: 'alias/mine' } }, 'archive.kms', /arn:aws:kms/],
  ['a secret by its ARN', { apiKeySecret: 'arn:aws:secretsmanager:a:1:secret:b' }, 'apiKeySecret', /not its ARN/],
  [
    'an e-mail address without a name',
    { alerts: { emails: ['@example.com'] } },
    'alerts.emails[0]',
    /an e-mail address/,
  ],
  [
    'an e-mail address twice, in another case',
    { alerts: { emails: ['a@example.com', 'b@example.com', 'A@example.com'] } },
    'alerts.emails[2]',
    /each address once \(it is at \[0\] already\)/,
  ],
  ['a topic by its name', { alerts: { topicArn: 'on-call' } }, 'alerts.topicArn', /the ARN of a standard SNS topic/],
  ['a topic that is first in, first out', { alerts: { topicArn: `${topic}.fifo` } }, 'alerts.topicArn', /standard/],
  ['a key without a topic', { alerts: { kmsKeyArn: key } }, 'alerts.kmsKeyArn', /no key, because topicArn is not set/],
  ...(['us-east-1', 'eu-central-1'] as const).map((region): [string, Record<string, unknown>, string, RegExp] => [
    `a topic elsewhere than in ${region}`,
    {
      deployTo: { account: region === 'us-east-1' ? '111111111111' : '333333333333', region },
      alerts: { topicArn: topic },
    },
    'alerts.topicArn',
    /a topic in the account \d+ and the region/,
  ]),
  [
    'a key of the archive elsewhere',
    { deployTo: { ...deployTo, region: 'us-east-1' }, archive: { kms: key } },
    'archive.kms',
    /a key in the region us-east-1/,
  ],
  ['an account that is a name', { deployTo: { ...deployTo, account: 'prod' } }, 'deployTo.account', /12 digits/],
  ['an account without a region', { deployTo: { account: '111111111111' } }, 'deployTo.region', /the name of a region/],
  ['a region that is none', { deployTo: { ...deployTo, region: 'europe' } }, 'deployTo.region', /such as eu-central-1/],
  ...(
    ['cn-north-1', 'us-gov-west-1', 'us-iso-east-1', 'us-isob-east-1', 'eu-isoe-west-1', 'eusc-de-east-1'] as const
  ).map((region): [string, Record<string, unknown>, string, RegExp] => [
    `the region ${region} of another partition`,
    { deployTo: { ...deployTo, region } },
    'deployTo.region',
    /of the partition aws: .*"Other partitions"/,
  ]),
  [
    'an optional cluster that is neither',
    { clusters: [{ uid: 'a', optional: 'yes' }] },
    'clusters[0].optional',
    /true or false/,
  ],
  ['an audit without a schedule', { audit: {} }, 'audit.schedule', /a cron expression/],
  ['an audit that is a schedule', { audit: 'cron(30 6 * * ? *)' }, 'audit', /an object/],
  ['an audit by rate()', audit({ schedule: 'rate(1 day)' }), 'audit.schedule', /rate\(\) fires at deployment/],
  ['an audit with an invalid hour', audit({ schedule: 'cron(0 24 * * ? *)' }), 'audit.schedule', /hours/],
  ['an audit in an unknown time zone', audit({ timeZone: 'Mars/Olympus' }), 'audit.timeZone', /an IANA time zone/],
  ['an unknown member of the audit', audit({ emails: [] }), 'audit.emails', /staleAfterHours/],
  [
    'a former public key that is an ARN',
    audit({ formerPublicKeys: ['arn:aws:kms:eu-central-1:111122223333:key/former'] }),
    'audit.formerPublicKeys[0]',
    /a public key of the curve P-256/,
  ],
  [
    'an acknowledgement of what is no damage',
    audit({ acknowledged: [{ kind: 'absent', key: 'runs/x', why: 'x' }] }),
    'audit.acknowledged[0].kind',
    /a kind of damage: seal-broken, forged/,
  ],
  [
    'an acknowledgement without a reason',
    audit({ acknowledged: [{ kind: 'missing', key: 'runs/x', why: '' }] }),
    'audit.acknowledged[0].why',
    /a reason/,
  ],
  ['a second reading after half a day', audit({ rereadDays: 0.5 }), 'audit.rereadDays', /a whole number from 1/],
  ['a cluster that is stale at once', audit({ staleAfterHours: 0 }), 'audit.staleAfterHours', /from 1 to/],
  ['a log that is frozen at once', audit({ frozenAfterHours: 0 }), 'audit.frozenAfterHours', /from 1 to/],
  ['an alarm that is no choice', audit({ alarmOnLogGaps: 'yes' }), 'audit.alarmOnLogGaps', /true or false/],
  [
    'a cluster that is stale between two runs',
    { ...expression('cron(0 3 * * ? *)'), ...audit({ staleAfterHours: 24 }) },
    'audit.staleAfterHours',
    /more than the longest gap of schedule, 24 hours/,
  ],
  ['a network without subnets', network({ subnetIds: [] }), 'network.subnetIds', /at least one subnet/],
  [
    'a subnet that is a group',
    network({ subnetIds: ['sg-12345678'] }),
    'network.subnetIds[0]',
    /the id of a subnet: subnet- and/,
  ],
  ['a tag that is reserved', { tags: { 'aws:x': 'y' } }, 'tags["aws:x"]', /does not start with "aws:"/],
  ['a tag that is no text', { tags: { team: 7 } }, 'tags.team', /text/],
  [
    'more shards than may wait for their turn',
    { shards: 96, limits: { oneRunAtATime: true } },
    'shards',
    /at most 95, because limits.oneRunAtATime is set/,
  ],
  ['a group that nobody has', { alerts: { page: { emails: [] } } }, 'alerts.inform', /the group that gets the rest/],
  ['a rest without a group', { alerts: { inform: { emails: [] } } }, 'alerts.page', /the group that is woken up/],
  [
    'recipients beside two groups',
    { alerts: { emails: ['a@b.org'], page: {}, inform: {} } },
    'alerts.emails',
    /recipients inside page and inform/,
  ],
  [
    'a group with a key and no topic',
    { alerts: { page: {}, inform: { kmsKeyArn: keyArn('aws', 'eu-central-1') } } },
    'alerts.inform.kmsKeyArn',
    /no key, because topicArn is not set/,
  ],
  [
    'a group whose topic is elsewhere',
    { deployTo, alerts: { page: {}, inform: { topicArn: 'arn:aws:sns:us-east-1:111111111111:t' } } },
    'alerts.inform.topicArn',
    /a topic in the account/,
  ],
  ['no shard', { shards: 0 }, 'shards', /from 1 to/],
  ['test events that are neither true nor false', { testEvents: 'yes' }, 'testEvents', /true or false/],
];

function keyArn(partition: string, region: string) {
  return `arn:${partition}:kms:${region}:111111111111:key/11111111-2222-3333-4444-555555555555`;
}
function copy(changes: object) {
  return { archive: { replicateTo: { bucketArn: 'arn:aws:s3:::copies', ...changes } } };
}
function service(changes: object) {
  return { service: { ...minimal.service, ...changes } };
}
function expression(text: string) {
  return { schedule: { expression: text } };
}
function zone(timeZone: string) {
  return { schedule: { ...minimal.schedule, timeZone } };
}
function audit(changes: object) {
  return { audit: { schedule: 'cron(30 6 * * ? *)', ...changes } };
}
function network(changes: object) {
  return {
    network: { vpcId: 'vpc-12345678', subnetIds: ['subnet-12345678'], securityGroupIds: ['sg-12345678'], ...changes },
  };
}
