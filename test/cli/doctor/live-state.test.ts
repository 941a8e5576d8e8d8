import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Check } from '../../../cli/doctor/check';
import { protectionChecks } from '../../../cli/doctor/protection-checks';
import { type ListeningServer, listenLocally } from '../../../local/listen-locally';
import { audited, configurations, everything, templateOf } from '../../infra/example-stack';
import { type Answer, accountId, LiveAccount, region } from '../stack/live-account';

const former = { ...process.env };
let server: ListeningServer;
let account: LiveAccount;
/** Answers of another kind, by the name of a call. */
let instead: Readonly<Record<string, Answer>> = {};

beforeAll(async () => {
  const answering = createServer((request, response) => {
    void text(request).then((body) => {
      const call = account.callOf(request, body) ?? 'unknown';
      const { status = 200, headers = {}, body: answered } = instead[call] ?? account.answer(call, request, body);
      response.writeHead(status, headers).end(answered);
    });
  });
  server = await listenLocally(answering);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: server.url,
    ...{ AWS_REGION: region, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's' },
  });
});
afterAll(() => {
  process.env = former;
  return server.close();
});

const everywhere = { ...everything, ...audited };

function deploy(changes: Record<string, unknown>): void {
  instead = {};
  account = new LiveAccount(templateOf(changes), 'fleet');
}

/** @param place of the collector in the stack */
async function look(place = ''): Promise<Record<string, Check>> {
  const physicalIds = new Map(account.resources.map(([logicalId, , id]) => [logicalId, id]));
  const checks = await protectionChecks({ name: 'fleet', place, region, accountId, physicalIds });
  return Object.fromEntries(checks.map((check) => [check.what, check]));
}

const wrongIn = (checks: Record<string, Check>) =>
  Object.keys(checks).filter((what) => checks[what]?.verdict !== 'right');

/** A resource of the account whose logical id begins so. */
function of<Live>(all: Record<string, Live>, prefix: string): Live {
  const [found] = Object.entries(all).filter(([id]) => id.startsWith(prefix));
  if (found === undefined) throw new Error(`no ${prefix}`);
  return found[1];
}

describe('what protects the archive', () => {
  it.each(configurations)('is as deployed after the deployment of %s, however AWS writes it', async (_, changes) => {
    deploy(changes);
    const checks = await look();
    expect(Object.values(checks).filter(({ verdict }) => verdict !== 'right')).toEqual([]);
    expect(Object.keys(checks)).toEqual([
      ...['policies of buckets', 'lifecycle', 'versions', 'Object Lock', 'replication', 'public access'],
      ...['encryption', 'keys', 'roles', 'rights'],
    ]);
    expect(checks.rights?.found).toMatch(/^IAM gives \d roles what they need, .* \((\d{2,3}) questions\)$/);
  });

  const archive = () => of(account.buckets, 'ArchiveBucket');
  const policy = () => {
    const { policy: found } = archive();
    if (found === undefined) throw new Error('no policy');
    return found;
  };
  const statement = (sid: string) => policy().Statement.find(({ Sid }) => Sid === sid) ?? {};
  const role = () => of(account.roles, 'CollectorRole');
  const inline = () => Object.values(role().inline)[0] ?? { Statement: [] };
  const open = { Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: '*' };
  const replace = (
    member: 'lifecycle' | 'versioning' | 'objectLock' | 'replication' | 'publicAccessBlock' | 'encryption',
    from: RegExp | string,
    to: string,
  ) => {
    const before = archive()[member] ?? '';
    archive()[member] = before.replace(from, to);
    expect(archive()[member]).not.toBe(before);
  };

  it.each<[string, () => void, string[], RegExp]>([
    [
      'a denial is gone',
      () => policy().Statement.splice(policy().Statement.indexOf(statement('SealsByAuditOnly')), 1),
      ['policies of buckets'],
      /SealsByAuditOnly: deployed \{.*\}, found nothing/,
    ],
    [
      'a denial has lost its condition',
      () => delete statement('SealsByAuditOnly').Condition,
      ['policies of buckets'],
      /SealsByAuditOnly: deployed .*ArnNotEquals.*, found \{(?!.*ArnNotEquals)/,
    ],
    [
      'a denial has one more condition, on an empty text, which disarms it',
      () => Object.assign(statement('NoDeletion'), { Condition: { StringEquals: { 'aws:PrincipalAccount': '' } } }),
      ['policies of buckets'],
      /NoDeletion: deployed \{.*\}, found .*"aws:PrincipalAccount":""/,
    ],
    [
      'a statement before a denial has its Sid',
      () => policy().Statement.unshift({ ...open, Sid: 'NoDeletion' }),
      ['policies of buckets'],
      /deployed nothing, found .*"Effect":"Deny"/,
    ],
    [
      'a denial is of other actions',
      () => Object.assign(statement('NoDeletion'), { Action: 's3:DeleteObjectTagging' }),
      ['policies of buckets'],
      /NoDeletion/,
    ],
    [
      'a policy is in the older language, in which variables are plain text',
      () => Object.assign(policy(), { Version: '2008-10-17' }),
      ['policies of buckets'],
      /^ArchiveBucket\w+, version: deployed "2012-10-17", found "2008-10-17"$/,
    ],
    [
      'a policy names no language, which is the older one',
      () => Object.assign(policy(), { Version: undefined }),
      ['policies of buckets'],
      /version: deployed "2012-10-17", found "2008-10-17"/,
    ],
    [
      'a policy is in a language that is unknown today',
      () => Object.assign(inline(), { Version: '2031-01-01' }),
      ['roles'],
      /policy \w+ version: deployed "2012-10-17", found "2031-01-01"/,
    ],
    [
      'the trust in a role is in the older language',
      () => Object.assign(role().trust, { Version: '2008-10-17' }),
      ['roles'],
      /trust version: .*found "2008-10-17"/,
    ],
    [
      "a key's policy is in the older language",
      () => Object.assign(of(account.keys, 'ArchiveKey').policy, { Version: '2008-10-17' }),
      ['keys'],
      /policy version: .*found "2008-10-17"/,
    ],
    [
      'a statement has the Sid "version"',
      () => policy().Statement.push({ ...open, Sid: 'version' }),
      ['policies of buckets'],
      /version: deployed "2012-10-17", found \{.*"Principal"/,
    ],
    [
      'somebody else was let in',
      () => policy().Statement.push(open),
      ['policies of buckets'],
      /deployed nothing, found \{"Action":"s3:\*"/,
    ],
    [
      'it has no policy',
      () => {
        archive().policy = undefined;
      },
      ['policies of buckets'],
      /NoDeletion/,
    ],
    [
      'a denial is of a role that is gone',
      () => Object.assign(statement('NoDeletion'), { Principal: { AWS: 'AROAGONE' } }),
      ['policies of buckets'],
      /AROAGONE/,
    ],
    [
      'things expire sooner',
      () => replace('lifecycle', '<Days>400<', '<Days>4<'),
      ['lifecycle'],
      /rule logs: deployed .*"Days":400.*, found .*"Days":4\}/,
    ],
    [
      'things move to another class',
      () =>
        replace(
          'lifecycle',
          '</Expiration>',
          '</Expiration><Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>',
        ),
      ['lifecycle'],
      /found .*GLACIER/,
    ],
    [
      'a rule has a status that is unknown today',
      () => replace('lifecycle', '<Status>Enabled', '<Status>Resting'),
      ['lifecycle'],
      /found .*Resting/,
    ],
    [
      'another rule expires seals',
      () =>
        replace(
          'lifecycle',
          '</LifecycleConfiguration>',
          '<Rule><ID>new</ID><Filter/><Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>',
        ),
      ['lifecycle'],
      /rule new: deployed nothing/,
    ],
    [
      'nothing expires any more',
      () => {
        archive().lifecycle = undefined;
      },
      ['lifecycle'],
      /rule runs: .* found nothing/,
    ],
    [
      'versions are suspended',
      () => replace('versioning', 'Enabled', 'Suspended'),
      ['versions'],
      /deployed Enabled, found Suspended/,
    ],
    [
      'versions have a state that is unknown today',
      () => replace('versioning', 'Enabled', 'Paused'),
      ['versions'],
      /found Paused/,
    ],
    [
      'the lock is shorter',
      () => replace('objectLock', '<Days>90', '<Days>1'),
      ['Object Lock'],
      /"Days":90.*"Days":1,/,
    ],
    [
      'the lock can be bypassed',
      () => replace('objectLock', 'COMPLIANCE', 'GOVERNANCE'),
      ['Object Lock'],
      /GOVERNANCE/,
    ],
    [
      'the copies go elsewhere',
      () => replace('replication', 'copies-of-the-archive', 'mine'),
      ['replication'],
      /rule everything: .* found .*arn:aws:s3:::mine/,
    ],
    [
      'nothing is copied any more',
      () => {
        archive().replication = undefined;
      },
      ['replication'],
      /found nothing/,
    ],
    [
      'it may be made public',
      () => replace('publicAccessBlock', '<BlockPublicPolicy>true', '<BlockPublicPolicy>false'),
      ['public access'],
      /"BlockPublicPolicy":false/,
    ],
    [
      'another key encrypts',
      () => replace('encryption', /<KMSMasterKeyID>.*<\/KMSMasterKeyID>/, '<KMSMasterKeyID>theirs</KMSMasterKeyID>'),
      ['encryption'],
      /found .*theirs/,
    ],
    [
      'a key is to be deleted',
      () => {
        of(account.keys, 'ArchiveKey').state = 'PendingDeletion';
      },
      ['keys'],
      /state: deployed Enabled, found PendingDeletion/,
    ],
    [
      'a key has a state that is unknown today',
      () => {
        of(account.keys, 'ArchiveKey').state = 'Resting';
      },
      ['keys'],
      /found Resting/,
    ],
    ...['state', 'ARN'].map((Sid): [string, () => void, string[], RegExp] => [
      `a statement of a key's policy has the Sid ${Sid}`,
      () => of(account.keys, 'AuditSigningKey').policy.Statement.push({ ...open, Action: 'kms:*', Sid }),
      ['keys'],
      new RegExp(`policy ${Sid}: deployed nothing, found .*kms:`),
    ]),
    [
      'others may sign',
      () => {
        of(account.keys, 'AuditSigningKey').policy.Statement = [];
      },
      ['keys'],
      /SignedByAuditOnly: .* found nothing/,
    ],
    [
      'a role has one more policy, which lets it delete',
      () => {
        role().inline.more = { Statement: [{ Effect: 'Allow', Action: 's3:Delete*', Resource: '*' }] };
      },
      ['roles', 'rights'],
      /policy more .*s3:Delete\*/,
    ],
    [
      'a role has one right less',
      () => {
        inline().Statement = inline().Statement.filter(({ Sid }) => Sid !== 'AddToArchive');
      },
      ['roles', 'rights'],
      /AddToArchive: .* found nothing/,
    ],
    [
      'a managed policy is attached',
      () => role().managed.push('arn:aws:iam::aws:policy/AdministratorAccess'),
      ['roles'],
      /AdministratorAccess: deployed nothing, found attached/,
    ],
    [
      'somebody else may assume a role',
      () => role().trust.Statement.push({ Effect: 'Allow', Principal: { AWS: accountId }, Action: 'sts:AssumeRole' }),
      ['roles'],
      /trust \{.*:root/,
    ],
    [
      'a boundary limits a role',
      () => {
        role().boundary = 'arn:aws:iam::1:policy/limit';
      },
      ['roles'],
      /permissions boundary: deployed nothing/,
    ],
    [
      'a role is of another account',
      () => {
        role().arn = role().arn.replace(accountId, '999999999999');
      },
      ['roles', 'rights'],
      /ARN: deployed .*, found arn:aws:iam::999999999999/,
    ],
    [
      'the organisation takes a right',
      () => {
        account.decides = (action) => (action === 's3:PutObject' ? { decision: 'explicitDeny' } : undefined);
      },
      ['rights'],
      /CollectorRole\w+ has to be allowed s3:PutObject on .*: explicitDeny/,
    ],
  ])('is wrong if %s', async (_, change, expected, found) => {
    deploy(everywhere);
    change();
    const checks = await look();
    expect(wrongIn(checks)).toEqual(expected);
    const [first = ''] = expected;
    expect(checks[first]).toMatchObject({ verdict: 'wrong', found: expect.stringMatching(found) });
  });

  it('is wrong if a stranger gets copies of an archive that is not copied', async () => {
    deploy({});
    archive().replication =
      '<ReplicationConfiguration><Role>theirs</Role><Rule><ID>x</ID><Status>Enabled</Status><Destination><Bucket>arn:aws:s3:::theirs</Bucket></Destination></Rule></ReplicationConfiguration>';
    const checks = await look();
    expect(wrongIn(checks)).toEqual(['replication']);
    expect(checks.replication?.found).toMatch(/rule x: deployed nothing, found .*arn:aws:s3:::theirs/);
  });

  it('is right whatever became of what else is in the stack', async () => {
    deploy(everywhere);
    const { Resources } = templateOf(everywhere);
    const own = Object.fromEntries(Object.entries(Resources).map(([id, resource]) => [`Fleet${id}`, resource]));
    const text = Object.keys(Resources).reduce(
      (json, id) => json.replaceAll(`"${id}"`, `"Fleet${id}"`),
      JSON.stringify(own),
    );
    const theirs = {
      Theirs: { Type: 'AWS::S3::Bucket', Properties: { VersioningConfiguration: { Status: 'Enabled' } } },
    };
    account = new LiveAccount(
      { Resources: { ...JSON.parse(text.replaceAll('"FleetFleet', '"Fleet')), ...theirs } },
      'fleet',
    );
    of(account.buckets, 'Theirs').versioning = undefined;
    expect(wrongIn(await look('Fleet'))).toEqual([]);
    expect(wrongIn(await look())).toEqual(['versions']);
  });

  it('is right if a policy has the unique id of a role that is there, which S3 shows now and then', async () => {
    deploy(everywhere);
    Object.assign(statement('NoDeletion'), { Principal: { AWS: role().id } });
    expect(wrongIn(await look())).toEqual([]);
  });

  it('is never brought back by a deployment where that would delete', async () => {
    deploy(everywhere);
    replace('lifecycle', '<Days>400<', '<Days>4000<');
    const { lifecycle } = await look();
    expect(lifecycle?.act).toMatch(/decide how long things are kept/);
    expect(lifecycle?.act).not.toMatch(/drift/);
  });

  it.each([
    ['a decision that is unknown today', { decision: 'maybe' }, /s3:PutObject on \S+: maybe$/m],
    [
      'a refusal that rests on what was not said',
      { decision: 'explicitDeny', missing: 'aws:Where' },
      /has to be allowed s3:PutObject on \S+: explicitDeny, without a value of aws:Where$/m,
    ],
  ])('has rights that were not seen with %s', async (_, decision, found) => {
    deploy({});
    account.decides = (action) => (action === 's3:PutObject' ? decision : undefined);
    expect((await look()).rights).toMatchObject({ verdict: 'not seen', found: expect.stringMatching(found) });
  });

  it('has rights that were not seen where IAM answers nothing', async () => {
    deploy({});
    instead = {
      'iam:SimulatePrincipalPolicy': {
        body: '<SimulatePrincipalPolicyResponse><SimulatePrincipalPolicyResult/></SimulatePrincipalPolicyResponse>',
      },
    };
    const found = expect.stringMatching(/: IAM did not answer$(.|\n)*^and \d+ more$/m);
    expect((await look()).rights).toMatchObject({ verdict: 'not seen', found });
  });

  it('was not seen if the template is not JSON, or has what nobody here can resolve', async () => {
    deploy({});
    const bodies = [
      'not JSON',
      JSON.stringify({
        Resources: { X: { Type: 'AWS::S3::Bucket', Properties: { VersioningConfiguration: { 'Fn::New': 1 } } } },
      }),
    ];
    for (const [at, template] of bodies.entries()) {
      instead = {
        'cloudformation:GetTemplate': {
          body: `<GetTemplateResponse><GetTemplateResult><TemplateBody>${template}</TemplateBody></GetTemplateResult></GetTemplateResponse>`,
        },
      };
      if (at === 0) await expect(look()).rejects.toThrow('Reading the template of the stack fleet failed');
      else expect((await look()).versions?.verdict).toBe('not seen');
    }
  });
});
