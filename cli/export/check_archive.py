#!/usr/bin/env python3
"""A second judge of an archive of logs and manifests in a folder. It shares no code with the collector, so that both are not
wrong in the same way. It needs Python 3.9 and the command openssl. Each function begins with the rule that it checks.

    python3 check_archive.py FOLDER [--public-key FILE…] [--head SHA256…] [--tsa-ca FILE…] [--part] [--json]

It prints one line for each finding. Exit codes: 0 sound, 1 not sound, 2 wrong command line, 3 it could not be checked.
It judges archives in which nothing has expired: what was recorded or sealed has to be there. It does not judge which runs
were due, nor whether the members of a run record add up and agree with what objects say of themselves besides length and
SHA-256, nor headers: a seal has the SHA-256 of the record, and the record that of the content."""
import argparse, base64, binascii, hashlib, json, os, re, stat, subprocess, sys, tempfile, urllib.parse, zlib
from datetime import datetime, timezone

RESOURCES = {'log': ('logs', 'json'), 'manifest': ('manifests', 'txt')}
PART_FILES = ('part.json', 'seals-public-key.pem', 'CHECK.md', 'check_archive.py')
KINDS = ('seal-broken', 'forged', 'missing', 'damaged', 'contradiction', 'unrecorded', 'unsealed', 'unvouched', 'pending')
is_hash = lambda value: isinstance(value, str) and bool(re.fullmatch('[0-9a-f]{64}', value))
is_count = lambda value: type(value) in (int, float) and 0 <= value < 2**53 and value == int(value)
seal_key = lambda number: 'seals/%08d.jsonl' % number
sha256 = lambda data: hashlib.sha256(data).hexdigest()
NOT_A_KEY = 'it is not a key of this archive, or not of this part'
HOUR = 3600.0

class Damaged(Exception):
    """What lies under a key is not what may lie there."""

class Archive:
    """A folder with its keys, what its seals have, and what was found."""
    def __init__(self, folder, now):
        self.folder, self.now, self.keys, self.part = folder, now, list_keys(folder), None
        self.findings, self.records, self.objects, self.open, self.head, self.has_seals = {}, {}, {}, set(), None, False

    def find(self, kind, key, problem):
        self.findings.setdefault((kind, key), str(problem))

def list_keys(folder):
    """A key is a path in the folder. What is known of an object beside its bytes lies under `metadata/`. No link is followed."""
    keys = []
    for place, folders, files in os.walk(folder):
        relative = os.path.relpath(place, folder).replace(os.sep, '/')
        if relative == '.':
            folders[:] = [one for one in folders if one not in ('metadata', '.metadata-incoming', '.metadata-keys')]
        for name in files + [one + '/' for one in folders if os.path.islink(os.path.join(place, one))]:
            path = name if relative == '.' else relative + '/' + name
            keys.append(path)
    return dict.fromkeys(sorted(keys))

def object_name(key):
    """`logs/cluster=UID/date=2026-11-20/20261120T100000.000Z.json.gz`; manifests end with `.txt.gz`. In the UID, all but letters,
    digits, `_`, `.` and `-` is percent-encoded UTF-8. Returns (cluster, resource, run); None for any other key."""
    match = re.fullmatch(r'([a-z]+)/cluster=([^/]+)/date=([^/]+)/([^/]+Z)\.([a-z]+)\.gz', key)
    found = [name for name, place in RESOURCES.items() if match and match.group(1, 5) == place]
    run = run_of(match.group(4)) if found else None
    cluster = urllib.parse.unquote(match.group(2)) if run and run[:10] == match.group(3) else ''
    is_exact = cluster and urllib.parse.quote(cluster, safe='', errors='replace').replace('~', '%7E') == match.group(2)
    return (cluster, found[0], run) if is_exact else None

def record_name(key):
    """`runs/date=2026-11-20/20261120T100000.000Z.shard-0-of-4.attempt-1.jsonl`; without shards, that part is left out.
    Returns (run, shard, attempt); None for any other key."""
    match = re.fullmatch(r'runs/[^/]+/([^/]+Z)\.(?:shard-([0-9]+)-of-([0-9]+)\.)?attempt-([0-9]+)\.jsonl', key)
    run = run_of(match.group(1)) if match else None
    shard = (int(match.group(2)), int(match.group(3))) if run and match.group(2) else None
    return (run, shard, int(match.group(4))) if run and record_key(run, shard, int(match.group(4))) == key else None

def record_key(run, shard, attempt):
    """The key of a run record: what record_name() reads."""
    part = 'shard-%d-of-%d.' % shard if shard else ''
    return 'runs/date=%s/%s.%sattempt-%d.jsonl' % (run[:10], re.sub('[-:]', '', run), part, attempt)

def run_of(stamp):
    """`20261120T100000.000Z` is the run of 2026-11-20T10:00:00.000Z."""
    run = re.sub(r'^(....)(..)(.....)(..)', r'\1-\2-\3:\4:', stamp)
    return run if is_time(run) else None

def seal_number(key):
    """`seals/00000042.jsonl`: numbers count from 1 and have eight digits at least. None for any other key."""
    match = re.fullmatch(r'seals/([0-9]{8,12})\.jsonl', key)
    return int(match.group(1)) if match and int(match.group(1)) and seal_key(int(match.group(1))) == key else None

def is_time(value):
    """Times are ISO 8601 in UTC with milliseconds, and of the calendar."""
    form = r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z'
    return isinstance(value, str) and bool(re.fullmatch(form, value, re.ASCII)) and seconds(value) == seconds(value)

def seconds(time):
    """Seconds since 1970; for a time that no calendar has, not a number, which is neither before nor after any."""
    try:
        return datetime.strptime(time, '%Y-%m-%dT%H:%M:%S.%fZ').replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return float('nan')

def parse_json(data):
    """JSON in UTF-8. Of a member that is there twice, the last one counts."""
    try:
        return json.loads(data.decode('utf-8'), parse_constant=float.fromhex)
    except (ValueError, RecursionError) as error:
        raise Damaged('it is not JSON in UTF-8: %s' % error)

def read(archive, key):
    """An object is a regular file; `metadata/PATH.json` has its headers, user metadata and the CRC-32 of its bytes. Without that
    file, as in a plain copy, only its bytes are known. Returns (bytes, description or None, time of writing)."""
    data, written = read_file(archive, key)
    try:
        text, _ = read_file(archive, 'metadata/%s.json' % key)
    except (FileNotFoundError, NotADirectoryError):
        return data, None, written
    about = parse_json(text.decode('utf-8', 'replace').encode()) if len(text) <= 65536 else None
    if not has_members(about, ABOUT):
        raise Damaged('its file in metadata/ does not describe an object')
    crc = base64.b64encode(zlib.crc32(data).to_bytes(4, 'big')).decode()
    if about['checksums'].get('crc32', crc) != crc:
        raise Damaged('its stored bytes do not have the CRC-32 that they were written with')
    return data, about, seconds(about['lastModified'])

def read_file(archive, path):
    """Returns the bytes of a regular file, and its time."""
    place = os.path.join(archive.folder, path)
    if path.endswith('/') or not stat.S_ISREG(os.lstat(place).st_mode):
        raise Damaged('it is not a regular file')
    with open(place, 'rb') as file:
        return file.read(), os.fstat(file.fileno()).st_mtime

def gunzip(data, most):
    """gzip of one member or several, with nothing behind it, and with no more content than was said."""
    content = b''
    while True:
        unpack = zlib.decompressobj(31)
        try:
            content += unpack.decompress(data, most + 1 - len(content))
        except zlib.error as error:
            raise Damaged('it is not gzip: %s' % error)
        if len(content) > most or not unpack.eof:
            raise Damaged('its content is too long, or its gzip ends too early')
        data = unpack.unused_data
        if not data:
            return content

def openssl(*arguments, known={}, **files):
    """Runs openssl once for the same question; `{name}` in an argument is the path of a file with these bytes.
    Returns what it prints; None: it refuses."""
    question = (arguments, tuple(sorted(files.items())))
    if question not in known:
        with tempfile.TemporaryDirectory() as work:
            for name, data in files.items():
                with open(os.path.join(work, name), 'wb') as file:
                    file.write(data)
            places = {name: os.path.join(work, name) for name in files}
            done = subprocess.run(['openssl'] + [one.format(**places) for one in arguments], capture_output=True)
        known[question] = done.stdout.decode('utf-8', 'replace') if done.returncode == 0 else None
    return known[question]

def from_base64(text):
    """base64, whose padding may be missing."""
    try:
        return base64.b64decode(text.rstrip('=') + '=' * (-len(text.rstrip('=')) % 4))
    except binascii.Error as error:
        raise Damaged('it is not base64: %s' % error)

def pem_of(what, data):
    """DER as openssl reads it."""
    return b'-----BEGIN %s-----\n%s-----END %s-----\n' % (what, base64.encodebytes(data), what)

def public_key(data):
    """Seals are signed with keys of the curve P-256. Returns the SPKI in DER."""
    if not data.startswith(bytes.fromhex('3059301306072a8648ce3d020106082a8648ce3d03010703420004')) or len(data) < 91:
        raise Damaged('it does not name a public key of the curve P-256')
    return data[:91]

def signed_line(data):
    """A seal's file has two lines. The second has `sha256` of the first without its LF, `algorithm`, `publicKey` and `signature`:
    just these, in this order, without a space. What is signed are the 64 characters of that SHA-256. Returns (line, key)."""
    line, _, rest = data.partition(b'\n')
    match = re.fullmatch(rb'\{"sha256":"([0-9a-f]{64})","algorithm":"ECDSA_SHA_256","publicKey":"([A-Za-z0-9+/]+={0,2})",'
                         rb'"signature":"([A-Za-z0-9+/]+={0,2})"\}\n', rest)
    if not match or len(rest) > 65536:
        raise Damaged('it does not have just two lines, the second with the four members of a signature')
    claimed, key, signature = (one.decode() for one in match.groups())
    spki = public_key(from_base64(key))
    if claimed != sha256(line):
        raise Damaged('it was changed after it was signed')
    files = {'key': pem_of(b'PUBLIC KEY', spki), 'signature': from_base64(signature), 'text': claimed.encode()}
    if openssl('dgst', '-sha256', '-verify', '{key}', '-signature', '{signature}', '{text}', **files) is None:
        raise Damaged('its signature is wrong')
    return line, spki

def read_seals(archive, trusted):
    """A seal is right by itself if it is signed with a key that was given; if none was, with the one that signed the first. No
    former key signs after a later one. A seal has the number of its key, the archive of the first, and no other hash of a key
    than one before it. Returns the right ones in order; what they have of run records and objects binds."""
    right, unknown, used = [], None, []
    for number in sorted(filter(None, map(seal_number, archive.keys))):
        key, archive.has_seals = seal_key(number), True
        try:
            data, about, _ = read(archive, key)
            line, signer = signed_line(data)
            trusted = trusted or [signer]
            before, unknown = unknown, None if signer in trusted else signer
            if unknown:
                if unknown != before:
                    archive.find('seal-broken', key, 'it is signed with a key that is not trusted')
                continue
            used += [] if signer in used else [signer]
            seal = dict(parse_json(line), key=key, sha256=sha256(line))
            if used[-1] != signer or (seal['version'], seal['number']) != (1, number) or not is_time(seal['listedFrom']):
                raise Damaged('it is signed with a former key, or not a seal of this number')
            if right and seal['archive'] != right[0]['archive']:
                raise Damaged('it is of another archive')
            for known, named in ((archive.records, seal['records']), (archive.objects, seal['objects'])):
                for one in named:
                    if known.setdefault(one['key'], dict(one, by=seal))['sha256'] != one['sha256']:
                        archive.find('seal-broken', key, 'an earlier seal has another hash of ' + one['key'])
            right.append(seal)
        except (Damaged, KeyError, TypeError, ValueError) as error:
            archive.find('seal-broken', key, error)
    return right

def follow_chain(archive, right):
    """From the right seal with the highest number, each seal names the one before it, its SHA-256, and every number between; the
    first names none. No other right seal lies beside this chain. Returns the chain."""
    by_number, chain, cut_off, seal = {one['number']: one for one in right}, [], 0, right[-1] if right else None
    while seal:
        chain.insert(0, seal)
        previous, number = seal['previous'], seal['number']
        before = (seal_number(previous['key']) or number) if previous else 0
        between = [one['number'] for one in seal['passedOver']]
        if between != list(range(before + 1, before + 1 + len(between))) or (
                before + len(between) + seal['passedOverMore'] + 1 != number):
            archive.find('seal-broken', seal['key'], 'it does not name the seal before it and every number between')
        link = min(before, number - 1) if previous else None
        seal = by_number.get(link)
        if previous and (seal or {}).get('sha256') != previous['sha256']:
            if seal or seal_key(link) not in archive.keys:
                archive.find('seal-broken', seal_key(link), 'seal %d names it, and it is not there' % number)
            cut_off, seal = link, None
    beside = [one['number'] for one in right if one not in chain and one['number'] >= cut_off]
    for one, before in zip(right, [None] + right):
        if one['number'] in beside and not (before and before['number'] in beside):
            archive.find('seal-broken', one['key'], 'it is right, and no later seal leads there')
    return chain

def take_state(archive, right, chain):
    """The newest seal names the SHA-256 of its state, which is there. What is open in it and concerns the seals stays so."""
    for seal in reversed(chain):
        key = 'seals/states/%s.json' % seal['state']
        try:
            data = read(archive, key)[0] if key in archive.keys else b''
            if sha256(data) != seal['state']:
                raise Damaged('the state of the newest seal is not there, or has another SHA-256')
            archive.open = {(one['kind'], one['key']): one for one in parse_json(data)['open']}
            break
        except Damaged as error:
            if seal is chain[-1]:
                archive.find('seal-broken', key, error)
    for kind, key in archive.open:
        is_lost = kind == 'seal-broken' and key.startswith('seals/states/') and key not in archive.keys
        if is_lost or (key == 'runs/*' and right[0] is chain[0]):
            archive.find('seal-broken', key, archive.open[kind, key]['problem'])

def check_stamps(archive, right, chain, roots):
    """`seals/00000042.NAME.tsr` is an authority's answer (RFC 3161) over the SHA-256 of a seal's first line. It leads, at its own
    time, to a root that was given or that the plan of a seal names, and is what a later seal has of it. If roots were given, one
    of them says within three days of each seal's time that this seal, or a later one, existed."""
    named = {one['key']: one['sha256'] for seal in right for one in seal['stamps']}
    planned = {one['root'] for seal in chain for one in seal['plan'].get('timestamps', [])}
    known = roots + [pem_of(b'CERTIFICATE', from_base64(one)) for one in sorted(planned)]
    digests, covered = {seal['number']: seal['sha256'] for seal in right}, {}
    for key in [key for key in archive.keys if key.startswith('seals/') and seal_number(key) is None]:
        match = re.fullmatch(r'(seals/[0-9]+)\.[a-z][a-z0-9-]*\.tsr', key)
        number = seal_number(match.group(1) + '.jsonl') if match else None
        if number is None:
            if not re.fullmatch(r'seals/states/[0-9a-f]{64}\.json', key):
                archive.find('unrecorded', key, NOT_A_KEY)
            continue
        sealed = named.pop(key, None)
        try:
            data = read(archive, key)[0]
            if sealed not in (None, sha256(data)):
                archive.find('forged', key, 'its SHA-256 is not the one in a later seal')
            elif number not in digests or not stamp_time(data, digests[number], known):
                raise Damaged('it is not a stamp of a right seal, or leads to no root that is known')
            else:
                covered[number] = min(stamp_time(data, digests[number], roots) or archive.now, covered.get(number, archive.now))
        except Damaged as error:
            archive.find('seal-broken', key, error)
    for key in named:
        archive.find('missing', key, 'a seal has it, and it is not there')
    until, late = archive.now, []
    for seal in reversed(chain if roots else []):
        until = min(until, covered.get(seal['number'], until))
        late += [seal['key']] if until > seconds(seal['listedFrom']) + 72 * HOUR else []
    if late:
        archive.find('seal-broken', late[-1], 'no authority that you trust says in time that it existed')

def stamp_time(data, digest, roots):
    """The time that a stamp states, if openssl accepts it at that time under one of these roots; None otherwise."""
    text = openssl('ts', '-reply', '-in', '{stamp}', '-text', stamp=data) or ''
    match = re.search(r'^Time stamp: (\w+ +\d+ [\d:]+)\S* (\d+) GMT', text, re.MULTILINE)
    if not match or not roots:
        return None
    time = datetime.strptime(' '.join(match.groups()), '%b %d %H:%M:%S %Y').replace(tzinfo=timezone.utc).timestamp()
    question = ('ts', '-verify', '-digest', digest, '-in', '{stamp}', '-CAfile', '{roots}', '-attime', str(int(time)))
    return None if openssl(*question, stamp=data, roots=b''.join(roots)) is None else time

IS = {'text': lambda one: isinstance(one, str), 'time': is_time, 'hash': is_hash, 'count': is_count,
      'true': lambda one: one is True, 'bool': lambda one: isinstance(one, bool), 'map': lambda one: isinstance(one, dict),
      'texts': lambda one: isinstance(one, dict) and all(isinstance(value, str) for value in one.values())}
ABOUT = 'text etag contentType? contentEncoding? time lastModified texts userMetadata checksums'
RUN = ('text trigger status collectorVersion functionVersion invocation stopped? count version attempt outcomes '
       'hash configuration time run startedAt finishedAt map counts clusterList? shard?')
OUTCOME = ('text cluster resource outcome key? mediaType? state? recordUid? lastModified? doubt? error? count bytes? '
           'receivedBytes? storedBytes? httpStatus? requests? durationMs? logLength? logLines? hash sha256? logSha256? '
           'time fetchedAt? true optional?')
COUNTS = 'count archived alreadyArchived failed notAttempted optionalMissing? doubts? wouldArchive?'
LIST = 'text from versionId? problem? hash sha256? leaving? time modifiedAt? since? bool isInForce'
VALUES = {'trigger': ('schedule', 'manual'), 'status': ('complete', 'incomplete'), 'resource': tuple(RESOURCES),
          'outcome': ('archived', 'already-archived', 'failed', 'not-attempted', 'would-archive')}

def has_members(value, table):
    """A table has the word for a form, and behind it the members of this form; one with `?` may be left out. Others are ignored."""
    form = None
    for word in table.split():
        name, form = word.rstrip('?'), IS.get(word, form)
        if word not in IS and (not isinstance(value, dict) or (not form(value[name]) if name in value else word == name) or (
                name in VALUES and value[name] not in VALUES[name])):
            return False
    return True

def parse_record(data, name):
    """A run record is JSON Lines in UTF-8, each of at most 1 MiB and ended by LF, none with CR: the run, and behind it as many
    outcomes as it says. Run, shard and attempt are those of its key."""
    *lines, rest = data.split(b'\n')
    if rest or not lines or b'\r' in data or max(map(len, lines)) > 1024 * 1024:
        raise Damaged('its lines are not those of a run record')
    run, *outcomes = map(parse_json, lines)
    if not has_members(run, RUN) or not has_members(run['counts'], COUNTS) or not all(
            has_members(one, OUTCOME) for one in outcomes) or (
            'clusterList' in run and not has_members(run['clusterList'], LIST)):
        raise Damaged('a member of it is not there, or not what it may be')
    shard = (run['shard'].get('index'), run['shard'].get('count')) if 'shard' in run else None
    if (run['version'], run['run'], shard, run['attempt'], run['outcomes']) != (1,) + name + (len(outcomes),):
        raise Damaged('it is of another run, shard or attempt than its key, or has not as many outcomes as it says')
    return dict(run, outcomes=outcomes)

def check_records(archive, run, named):
    """A run record is what its seal has. If it was there when the newest seal was made, a seal has it. It names a configuration.
    Attempts of a shard are numbered from 1. Returns (records, those that were forged and cannot be read)."""
    records, lost = [], []
    for key, name in named:
        record, sealed = None, archive.records.get(key)
        try:
            data, about, written = read(archive, key)
            if sealed and sealed['sha256'] != sha256(data):
                archive.find('forged', key, 'its SHA-256 is not the one in seal %d' % sealed['by']['number'])
            record = parse_record(data, name)
            records.append(record)
            check_configuration(archive, record['configuration'])
        except Damaged as error:
            archive.find('damaged', key, error)
            lost += [key] if ('forged', key) in archive.findings else []
        if is_unsealed(archive, key, record, archive.now if record is None else written):
            archive.find('unsealed', key, 'it was there when the newest seal was made, and no seal of that time has it')
    for _, (_, shard, attempt) in named:
        if attempt > 1 and not any(name == (run, shard, attempt - 1) for _, name in named):
            last = max([0] + [name[2] for _, name in named if name[1] == shard and name[2] < attempt])
            archive.find('missing', record_key(run, shard, last + 1), 'there are records of later attempts')
    return records, lost

def is_unsealed(archive, key, record, written):
    """What is 15 minutes older than the newest seal's listing is in a seal, but for what that seal says that it could not read; in
    a part everything is. What an audit found unsealed it has sealed itself, which excuses nothing."""
    sealed, found = archive.records.get(key), ('unsealed', key) in archive.open and archive.open['unsealed', key]
    if sealed or not archive.has_seals or archive.part:
        return bool(found and sealed['by']['seal'] >= found['since']) if sealed else archive.has_seals and bool(archive.part)
    unread = archive.head['unread'] if archive.head else {'keys': [key]}
    if record is None or key in unread['keys'] or (unread['behind'] is not None and key > unread['behind']):
        return False
    return min(written, seconds(record['finishedAt']) + 2 * HOUR) < seconds(archive.head['listedFrom']) - HOUR / 4

def check_configuration(archive, sha):
    """`configurations/SHA-256.json.gz` is what runs had to collect; the SHA-256 is that of its JSON."""
    key = 'configurations/%s.json.gz' % sha
    if key not in archive.keys:
        return archive.find('missing', key, 'run records name this configuration, and it is not there')
    try:
        data, about, _ = read(archive, key)
        text = gunzip(data, 64 * 1024 * 1024)
        if sha256(text) != sha or not isinstance(parse_json(text), dict):
            raise Damaged('its content does not have the SHA-256 that its key says, or is not a configuration')
    except Damaged as error:
        archive.find('damaged', key, error)

def stored(records):
    """Of what the records of a run say of one object, one outcome counts: what was archived stays so, best with its hash."""
    best = {}
    for one in [one for record in records for one in record['outcomes']]:
        rank = {'archived': 3, 'already-archived': 2 if 'sha256' in one else 1}.get(one['outcome'], 0)
        task = one['resource'], one['cluster']
        if rank > best.get(task, (0,))[0]:
            best[task] = (rank, one)
    return [one for _, one in best.values() if object_name(one.get('key', ''))]

def check_object(archive, key, outcome=None):
    """The content has the length and the SHA-256 that its metadata and its run record say; without metadata, those of the record.
    Metadata is percent-encoded, and names cluster, resource and run of the key. Returns (SHA-256 or None, kind or None, problem)."""
    try:
        data, about, _ = read(archive, key)
        meta = about['userMetadata'] if about else {}
        own = urllib.parse.unquote(meta.get('cluster-uid', '')), meta.get('resource'), meta.get('run')
        if about and (own != object_name(key) or not is_time(meta.get('fetched-at', meta['run']))):
            raise Damaged('its metadata is not there, or of another object')
        if about and not (is_hash(meta.get('sha256')) and re.fullmatch('[0-9]{1,15}', meta.get('length', ''))):
            raise Damaged('its metadata has no SHA-256 or length')
        content = gunzip(data, int(meta['length']) if about else 2**40)
        if about and (sha256(content), len(content)) != (meta['sha256'], int(meta['length'])):
            raise Damaged('its content is not the one that its metadata says')
    except Damaged as error:
        return None, 'damaged', str(error)
    found = sha256(content)
    if outcome and (outcome.get('sha256', found), outcome.get('bytes', len(content))) != (found, len(content)):
        return found, 'contradiction' if about else 'damaged', 'its content is not the one that its run record says'
    if outcome and outcome.get('storedBytes', len(data)) != len(data):
        return found, 'contradiction', 'its stored length is not the one that its run record says'
    return found, None, ''

def check_sealed(archive, key, found):
    """A seal has the SHA-256 of an object that no run record has one of. Returns whether the object has it."""
    sealed = archive.objects.get(key)
    if sealed and found not in (None, sealed['sha256']):
        archive.find('forged', key, 'its content is not what seal %d says' % sealed['by']['number'])
    return bool(sealed) and found == sealed['sha256']

def check_runs(archive):
    """Every object that a run record names is there, and is what it says. Returns the keys of these objects, and the run records
    that are sealed and of no use any more, by their run."""
    runs, named, lost = {}, set(), {}
    for key in [key for key in archive.keys if key.startswith('runs/')]:
        name = record_name(key)
        if not name or not is_in_part(archive.part, None, name[0]):
            archive.find('unrecorded', key, NOT_A_KEY)
        if name:
            runs.setdefault(name[0], []).append((key, name))
    for run, names in sorted(runs.items()):
        records, useless = check_records(archive, run, sorted(names, key=lambda one: one[1][2]))
        lost.update({run: key for key in useless})
        for outcome in stored(records):
            key = outcome['key']
            if not is_in_part(archive.part, object_name(key)[0], object_name(key)[2]):
                continue
            named.add(key)
            found, kind, problem = check_object(archive, key, outcome) if key in archive.keys else (
                None, 'missing', 'it is recorded, and not there')
            if kind:
                archive.find(kind, key, problem)
            check_sealed(archive, key, found)
    for key in archive.records:
        if record_name(key) and key not in archive.keys:
            lost[record_name(key)[0]] = key
    return named, lost, len(runs)

def check_others(archive, named, lost):
    """Nothing else lies there: an object that no run record names is `unrecorded`. If a sealed run record of its run is gone or
    forged, that is the damage, and nothing vouches for its objects. What was written within nine hours may still be recorded."""
    for key in archive.keys:
        name, (top, *rest) = object_name(key), key.split('/')
        match = re.fullmatch(r'configurations/([0-9a-f]{64})\.json\.gz', key)
        if match:
            check_configuration(archive, match.group(1))
        elif top == 'configurations' and rest or (top in ('logs', 'manifests') and rest and not name):
            archive.find('unrecorded', key, NOT_A_KEY)
        elif name and archive.part and name[0] != archive.part['cluster']:
            archive.find('unrecorded', key, NOT_A_KEY)
        elif name and key not in named:
            check_unnamed(archive, key, lost.get(name[2]))
        elif not rest or top not in ('runs', 'seals', 'logs', 'manifests'):
            if not archive.part or key not in PART_FILES:
                archive.find('unrecorded', top + '/*' if rest else key, 'it lies outside what the collector writes')

def check_unnamed(archive, key, lost):
    """See check_others()."""
    found, kind, problem = check_object(archive, key)
    is_vouched = check_sealed(archive, key, found)
    if found and not archive.part and read(archive, key)[2] > archive.now - 9 * HOUR:
        archive.find('pending', key, 'no run record has it yet; it was written a short time ago')
    elif lost and not is_vouched:
        archive.find(kind or 'unvouched', key, problem or 'its run record %s, which is sealed, is of no use' % lost)
    else:
        archive.find('unrecorded', key, 'no run record says that it was archived')

def is_in_part(part, cluster, run):
    """`part.json`, which nobody has signed, says what a part has: all records of its runs, all objects of its cluster."""
    is_within = not part or ((part['from'] or run) <= run <= (part['to'] or run))
    return is_within and (not part or cluster in (None, part['cluster']))

def judge(folder, now, keys, heads, roots, is_part):
    """Seals first, then runs and what they name, then everything else, and at last what is sealed and gone."""
    archive = Archive(folder, now)
    archive.part = parse_json(read_file(archive, 'part.json')[0]) if is_part else None
    right = read_seals(archive, list(keys))
    chain = follow_chain(archive, right)
    archive.head = right[-1] if right else None
    take_state(archive, right, chain)
    for head in heads:
        if head not in [seal['sha256'] for seal in chain]:
            archive.find('seal-broken', 'seals/*', 'no seal in the chain has the SHA-256 %s, which was given' % head)
    if (keys or roots) and not archive.has_seals:
        archive.find('seal-broken', 'seals/*', 'a key or an authority was given, and the archive has no seal')
    check_stamps(archive, right, chain, roots)
    named, lost, runs = check_runs(archive)
    check_others(archive, named, lost)
    for key, sealed in {**archive.records, **archive.objects}.items():
        cluster, _, run = object_name(key) or (None, None, (record_name(key) or (None,))[0])
        if run and key not in archive.keys and is_in_part(archive.part, cluster, run):
            archive.find('missing', key, 'seal %d has it, and it is not there' % sealed['by']['number'])
    acknowledged = {(one['kind'], one['key']) for one in archive.head['plan'].get('acknowledged', [])} if right else set()
    damage = {one for one in archive.findings if one[0] not in ('unvouched', 'pending')} - acknowledged
    findings = sorted(archive.findings.items(), key=lambda one: (KINDS.index(one[0][0]), one[0][1]))
    return [{'kind': kind, 'key': key, 'problem': text} for (kind, key), text in findings], 1 if damage else 0 if runs else 3

def main():
    """See the top of this file."""
    parser = argparse.ArgumentParser(description='Judges an archive in a folder.')
    parser.add_argument('folder', help='a dash: names of folders, one in each line of the standard input')
    parser.add_argument('--public-key', nargs='+', default=[], metavar='FILE', help='PEM of the keys that may have signed')
    parser.add_argument('--head', nargs='+', default=[], metavar='SHA256', help='of seals, as mails told them')
    parser.add_argument('--tsa-ca', nargs='+', default=[], metavar='FILE', help='PEM of the roots of authorities of stamps')
    parser.add_argument('--now', default=datetime.now(timezone.utc).isoformat(), metavar='TIME', help='in place of the clock')
    parser.add_argument('--part', action='store_true', help='the folder is a part that "export" wrote')
    parser.add_argument('--json', action='store_true', help='print a list of findings')
    options, code = parser.parse_args(), 0
    try:
        now = datetime.fromisoformat(options.now.replace('Z', '+00:00')).timestamp()
        pems = [open(file).read() for file in options.public_key]
        keys = [public_key(from_base64(re.sub(r'-----[^-]*-----|\s', '', pem))) for pem in pems]
        roots = [open(file, 'rb').read() for file in options.tsa_ca]
        for folder in map(str.rstrip, sys.stdin) if options.folder == '-' else [options.folder]:
            os.listdir(folder)
            findings, code = judge(folder, now, keys, options.head, roots, options.part)
            lines = ['%(kind)s %(key)s: %(problem)s' % one for one in findings]
            print(json.dumps(findings) if options.json else '\n'.join(lines or ['Nothing is wrong.']), flush=True)
    except (OSError, Damaged) as error:
        print('It could not be checked: %s' % error, file=sys.stderr)
        code = 3
    return code

if __name__ == '__main__':
    sys.exit(main())
