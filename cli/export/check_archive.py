#!/usr/bin/env python3
"""A second judge of an archive of logs and manifests in a folder. It shares no code with the collector, so that both
are not wrong in the same way. It needs Python 3.9 and openssl. Each function begins with the rule that it checks.

    python3 check_archive.py FOLDER [--public-key FILE…] [--head SHA256…] [--tsa-ca FILE…] [--part]

It prints one line for each finding. Exit codes: 0 sound, 1 not sound, 2 wrong command line, 3 it could not be checked.
It judges archives in which nothing has expired: what was recorded or sealed has to be there. It does not judge which
runs were due, what a configuration says, which clusters may leave a list, the text within a log, headers, or a
retention that was shortened."""
import argparse, base64, contextlib, functools, hashlib, json, os, re, ssl, stat, subprocess, sys, tempfile, time, zlib
from collections import Counter, defaultdict
from datetime import datetime, timezone
from types import SimpleNamespace
from urllib.parse import quote, unquote

RUN = r'date=(?P<Y>\d{4})-(?P<M>\d\d)-(?P<D>\d\d)/(?P=Y)(?P=M)(?P=D)T(?P<h>\d\d)(?P<m>\d\d)(?P<s>\d\d\.\d{3})Z\.'
SHARD = r'(?:shard-(?P<index>0|[1-9]\d{0,8})-of-(?P<count>0|[1-9]\d{0,8})\.)?'
NUMBER, HASH = r'seals/(?P<number>(?!0{8})\d{8}|[1-9]\d{8,11})\.', r'(?P<hash>[0-9a-f]{64})\.'
KEYS = {  # What may lie in an archive.
    'log': 'logs/cluster=(?P<cluster>[^/]+)/' + RUN + r'json\.gz',
    'manifest': 'manifests/cluster=(?P<cluster>[^/]+)/' + RUN + r'txt\.gz',
    'record': 'runs/' + RUN + SHARD + r'attempt-(?P<attempt>0|[1-9]\d{0,8})\.jsonl',
    'configuration': 'configurations/' + HASH + r'json\.gz',
    'seal': NUMBER + 'jsonl', 'state': 'seals/states/' + HASH + 'json', 'stamp': NUMBER + r'[a-z][a-z0-9-]*\.tsr'}
OWN_FOLDERS = ('metadata', '.metadata-incoming', '.metadata-keys')
PART_FILES = ('part.json', 'seals-public-key.pem', 'CHECK.md', 'check_archive.py')
KINDS = ('seal-broken', 'forged', 'missing', 'damaged', 'contradiction', 'unrecorded', 'unsealed', 'unvouched',
         'pending')
PUBLIC_KEY = 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE[A-Za-z0-9+/]{85}[AQgw]=='  # SPKI of the curve P-256, in base64
# What Python raises where bytes are not what they should be.
WRONG = (ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error, FileNotFoundError)
HOUR = 3600.0
sha256 = lambda data: hashlib.sha256(data).hexdigest()
to_base64 = lambda data: base64.b64encode(data).decode()
is_stored = lambda outcome: outcome['outcome'] in ('archived', 'already-archived')

class Archive:
    """A folder: what its keys say, what its seals have of them, and what was found."""
    def __init__(self, folder, now, is_part):
        self.folder, self.now, self.part, self.head = folder, now, None, None
        self.names, self.sealed, self.open, self.findings = {}, {}, {}, {}
        if is_part:
            self.part = parse_json(self.read_file('part.json')[0], 'PART')

    def find(self, kind, key, problem):
        self.findings.setdefault((kind, key), str(problem))

    def of(self, kind):
        return [(key, name) for key, name in self.names.items() if name.kind == kind]

    @contextlib.contextmanager
    def judging(self, key, is_told=True):
        """What is not what it should be is `damaged`, or `missing` if it is not there; below `seals/` `seal-broken`."""
        try:
            yield
        except WRONG as error:
            kind = 'missing' if isinstance(error, FileNotFoundError) else 'damaged'
            if is_told:
                self.find('seal-broken' if key.startswith('seals/') else kind, key, error)

    def is_sealed(self, key, found):
        """What a right seal names has the SHA-256 that it says. Returns whether a seal has this one."""
        sealed = self.sealed.get(key)
        if sealed and sealed['sha256'] != found:
            self.find('forged', key, 'its SHA-256 is not the one in seal %d' % sealed['by']['number'])
        return bool(sealed) and sealed['sha256'] == found

    def has(self, name):
        """`part.json`, which nobody signs, says what a part has: its cluster's objects, all records of its runs."""
        part = self.part or {'cluster': name.cluster, 'from': None, 'to': None}
        is_within = not name.run or (part['from'] or name.run) <= name.run <= (part['to'] or name.run)
        return is_within and name.cluster in (None, part['cluster'])

    def read_file(self, path):
        """Only a regular file is read. In the place of an object a folder is not there. Returns (bytes, time)."""
        place = os.path.join(self.folder, path)
        with contextlib.suppress(NotADirectoryError):
            mode = os.lstat(place).st_mode
            if stat.S_ISREG(mode):
                with open(place, 'rb') as file:
                    return file.read(), os.fstat(file.fileno()).st_mtime
            if not stat.S_ISDIR(mode) or path.startswith('metadata/'):
                raise ValueError('it is not a regular file')
        raise FileNotFoundError('it is recorded, and not there')

    def look_up(self, key):
        """`metadata/PATH.json` has an object's headers, user metadata, time and CRC-32. Without it, as in a plain copy,
        only its bytes are known. Returns (bytes, description or None, time of writing)."""
        data, written = self.read_file(key)
        try:
            text, _ = self.read_file('metadata/%s.json' % key)
        except FileNotFoundError:
            return data, None, written
        if len(text) > 65536:
            raise ValueError('its file in metadata/ is too long')
        about = parse_json(text, 'ABOUT')
        return data, about, seconds(about['lastModified'])

    def read(self, key):
        """An object has the CRC-32 that it was written with. Returns (bytes, description or None)."""
        data, about, _ = self.look_up(key)
        if about and about['checksums'].get('crc32') not in (None, to_base64(zlib.crc32(data).to_bytes(4, 'big'))):
            raise ValueError('its stored bytes do not have the CRC-32 that they were written with')
        return data, about

def name_of(key):
    """A key is exactly what its name encodes to: run and date are of one time; in a UID all but letters, digits, `_`,
    `.` and `-` is percent-encoded UTF-8; numbers have no needless zero. None: it is not a key of an archive."""
    for kind, form in KEYS.items():
        match = re.fullmatch(form, key, re.ASCII)
        if match:
            name = SimpleNamespace(**{'cluster': None, 'run': None, **match.groupdict(), 'kind': kind})
            if name.cluster:
                name.cluster = unquote(name.cluster)
                if quote(name.cluster, safe='', errors='replace').replace('~', '%7E') != match['cluster']:
                    return None
            if hasattr(name, 'Y'):
                name.run = '{Y}-{M}-{D}T{h}:{m}:{s}Z'.format(**match.groupdict())
            return name if not name.run or is_time(name.run) else None
    return None

def list_files(folder, path=''):
    """What is known of objects beside their bytes lies in folders of its own. A link is never followed. A name has up
    to 250 bytes."""
    for entry in os.scandir(os.path.join(folder, path)):
        if path + entry.name in OWN_FOLDERS and not entry.is_file(follow_symlinks=False):
            continue
        if not entry.is_dir(follow_symlinks=False) or len(os.fsencode(entry.name)) > 250:
            yield path + entry.name + '/' * entry.is_dir()
        else:
            yield from list_files(folder, path + entry.name + '/')

def list_keys(archive):
    """Nothing else lies in the folder: any other file is `unrecorded`, outside of the prefixes once for each folder."""
    for key in sorted(os.fsencode(path).decode('utf-8', 'replace') for path in list_files(archive.folder)):
        name = name_of(key)
        if re.match('(logs|manifests|runs|configurations|seals)/', key):
            if not name or not archive.has(name):
                archive.find('unrecorded', key, 'it is not a key of this archive, or not of this part')
        elif not archive.part or key not in PART_FILES:
            archive.find('unrecorded', re.sub('(?s)/.*', '/*', key), 'it lies outside what the collector writes')
        if name and (not archive.part or name.cluster in (None, archive.part['cluster'])):
            archive.names[key] = name

def seconds(text):
    """Times are ISO 8601 in UTC with milliseconds. Returns seconds since 1970; for what no calendar has, not a number,
    which is neither before nor after any."""
    if not is_text(text) or not re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', text, re.ASCII):
        return float('nan')
    with contextlib.suppress(ValueError):
        return datetime.strptime(text, '%Y-%m-%dT%H:%M:%S.%fZ').replace(tzinfo=timezone.utc).timestamp()
    return float('nan')

is_time = lambda value: seconds(value) == seconds(value)
is_text = lambda value: isinstance(value, str)
one_of = lambda *values: lambda value: value in values
whole = lambda least, most=2**53 - 1: lambda value: type(value) is float and least <= value <= most and value % 1 == 0
FORMS = {  # What a value is; of an object the forms of its members: one with `?` may be absent. Others are ignored.
    'TEXT': is_text, 'TIME': is_time, 'HASH': lambda value: is_text(value) and re.fullmatch('[0-9a-f]{64}', value),
    'COUNT': whole(0), 'ORDINAL': whole(1), 'ONE': whole(1, 1), 'NUMBER': lambda value: type(value) is float,
    'TRUE': lambda value: value is True, 'BOOL': lambda value: isinstance(value, bool), 'ANY': lambda value: True,
    'TEXTS': lambda value: isinstance(value, dict) and all(map(is_text, value.values())),
    'TRIGGER': one_of('schedule', 'manual'), 'STATUS': one_of('complete', 'incomplete'),
    'RESOURCE': one_of('log', 'manifest'),
    'BECAME': one_of('archived', 'already-archived', 'failed', 'not-attempted', 'would-archive'),
    'ABOUT': 'TEXT etag contentType? contentEncoding? TIME lastModified TEXTS userMetadata checksums',
    'RUN': 'ONE version TIME run startedAt finishedAt ORDINAL attempt SHARD shard? TRIGGER trigger STATUS status '
           'TEXT collectorVersion functionVersion invocation stopped? HASH configuration LIST clusterList? '
           'COUNTS counts COUNT outcomes',
    'SHARD': 'COUNT index ORDINAL count',
    'COUNTS': 'COUNT archived alreadyArchived failed notAttempted optionalMissing? doubts? wouldArchive?',
    'LIST': 'TEXT from versionId? problem? HASH sha256? leaving? TIME modifiedAt? since? BOOL isInForce',
    'OUTCOME': 'TEXT cluster key? mediaType? state? recordUid? lastModified? doubt? error? RESOURCE resource '
               'BECAME outcome TRUE optional? COUNT bytes? receivedBytes? storedBytes? httpStatus? requests? '
               'durationMs? logLength? logLines? HASH sha256? logSha256? TIME fetchedAt?',
    'RESOURCES': lambda value: isinstance(value, list) and all(map(FORMS['RESOURCE'], value)),
    'CLUSTERS': lambda value: isinstance(value, list) and all(has_form(one, 'CLUSTER') for one in value),
    'CLUSTER': 'TEXT uid RESOURCES resources? BOOL optional?', 'SCHEDULE': 'TEXT expression timeZone BOOL enabled',
    'PERCENT': 'NUMBER maxRemovedPercent',
    'CONFIGURATION': 'CLUSTERS clusters SCHEDULE schedule ORDINAL retentionDays? PERCENT clusterList?',
    'SEAL': 'ONE version ORDINAL number TIME seal listedFrom TEXT archive HASH state COUNT passedOverMore '
            'ANY previous passedOver records objects stamps unread plan',
    'STATE': 'ANY open', 'PART': 'TEXT cluster ANY from to'}

def has_form(value, form):
    """A value is what the table FORMS says."""
    members = FORMS[form]
    if not is_text(members):
        return members(value)
    for word in members.split() if isinstance(value, dict) else ():
        name, form = word.rstrip('?'), word if word in FORMS else form
        if word not in FORMS and not (has_form(value[name], form) if name in value else name != word):
            return False
    return isinstance(value, dict)

def parse_json(data, form):
    """JSON in UTF-8. Of a member that is there twice, the last one counts. 1, 1.0 and 1e0 are one number."""
    value = json.loads(data.decode('utf-8'), parse_int=float, parse_constant=int)
    if not has_form(value, form):
        raise ValueError('a member of its JSON is not there, or not what it may be')
    return value

def gunzip(data, most):
    """gzip of one member or several, with nothing behind it, and with no more content than was said."""
    content = b''
    while True:
        unpack = zlib.decompressobj(31)
        content += unpack.decompress(data, most + 1 - len(content))
        if len(content) > most or not unpack.eof:
            raise ValueError('its content is too long, or its gzip ends too early')
        data = unpack.unused_data
        if not data:
            return content

@functools.lru_cache(maxsize=None)
def openssl(*arguments, **files):
    """`{name}` in an argument is the path of a file with these bytes. Returns what openssl prints; None: it refuses."""
    with tempfile.TemporaryDirectory() as work:
        places = {name: os.path.join(work, name) for name in files}
        for name, data in files.items():
            with open(places[name], 'wb') as file:
                file.write(data)
        done = subprocess.run(['openssl'] + [one.format(**places) for one in arguments], capture_output=True)
    return done.stdout.decode('utf-8', 'replace') if done.returncode == 0 else None

def signed_line(data):
    """A seal's file has two lines. The second has `sha256` of the first without its LF, `algorithm`, `publicKey` and
    `signature`: just these, in this order, without a space. What is signed are the 64 characters of that SHA-256.
    Returns (line, key)."""
    line, _, rest = data.partition(b'\n')
    match = re.fullmatch(r'\{"sha256":"(.{64})","algorithm":"ECDSA_SHA_256","publicKey":"(%s)","signature":"([^"]+)"\}'
                         r'\n' % PUBLIC_KEY, rest.decode('latin-1'))
    if not match or len(rest) > 65536 or to_base64(base64.b64decode(match[3])) != match[3]:
        raise ValueError('it does not have just two lines, the second with the four members of a signature')
    if match[1] != sha256(line):
        raise ValueError('it was changed after it was signed')
    key = '-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n' % match[2]
    files = {'key': key.encode(), 'signature': base64.b64decode(match[3]), 'text': match[1].encode()}
    if openssl('dgst', '-sha256', '-verify', '{key}', '-signature', '{signature}', '{text}', **files) is None:
        raise ValueError('its signature is wrong')
    return line, match[2]

def read_seals(archive, trusted):
    """A seal is right by itself if it is signed with a key that was given; if none was, with the one that signed the
    first. No former key signs after a later one. A seal has the number of its key, the archive of the first, and no
    other hash of a key than one before it. Returns the right ones in order; what they have of other keys binds."""
    right, unknown, used = [], None, []
    for key, name in sorted(archive.of('seal'), key=lambda one: int(one[1].number)):
        with archive.judging(key):
            line, signer = signed_line(archive.read(key)[0])
            trusted = trusted or [signer]
            before, unknown = unknown, None if signer in trusted else signer
            if unknown:
                if unknown != before:
                    archive.find('seal-broken', key, 'it is signed with a key that is not trusted')
                continue
            used += [] if signer in used else [signer]
            seal = dict(parse_json(line, 'SEAL'), key=key, sha256=sha256(line))
            if used[-1] != signer or seal['number'] != int(name.number):
                raise ValueError('it is signed with a former key, or not a seal of this number')
            if right and seal['archive'] != right[0]['archive']:
                raise ValueError('it is of another archive')
            for one in seal['records'] + seal['objects'] + seal['stamps']:
                if archive.sealed.setdefault(one['key'], dict(one, by=seal))['sha256'] != one['sha256']:
                    archive.find('seal-broken', key, 'an earlier seal has another hash of ' + one['key'])
            right.append(seal)
    return right

def follow_chain(archive, right):
    """From the right seal with the highest number, each seal names the one before it, its SHA-256, and every number
    between; the first names none. No other right seal lies beside this chain. Returns the chain."""
    by_number, chain, cut_off, seal = {one['number']: one for one in right}, [], 0, archive.head
    while seal:
        chain.insert(0, seal)
        previous, between = seal['previous'], [one['number'] for one in seal['passedOver']]
        before = int(getattr(name_of(previous['key']), 'number', seal['number'])) if previous else 0
        if between != list(range(before + 1, before + 1 + len(between))) or (
                before + len(between) + seal['passedOverMore'] + 1 != seal['number']):
            archive.find('seal-broken', seal['key'], 'it does not name the seal before it and every number between')
        seal = by_number.get(before)
        if previous and (seal or {}).get('sha256') != previous['sha256']:
            if seal or previous['key'] not in archive.names:
                archive.find('seal-broken', previous['key'], 'a later seal names it, and it is not there')
            cut_off, seal = before, None
    beside = [one not in chain and one['number'] >= cut_off for one in right]
    for at, one in enumerate(right):
        if beside[at] and not (at and beside[at - 1]):
            archive.find('seal-broken', one['key'], 'it is right, and no later seal leads there')
    return chain

def take_state(archive, right, chain):
    """The state of the newest seal is there. What is open in it and concerns the seals stays so: a state that is not
    there, and a chain that is not the first."""
    def read_state(key):
        data, _ = archive.read(key)
        if sha256(data) != name_of(key).hash:
            raise ValueError('it has another SHA-256')
        return parse_json(data, 'STATE')['open']
    for seal in reversed(chain):
        key = 'seals/states/%s.json' % seal['state']
        with archive.judging(key, seal is archive.head):
            archive.open = {(one['kind'], one['key']): one for one in read_state(key)}
            break
    for kind, key in archive.open:
        if kind == 'seal-broken' and key.startswith('seals/states/'):
            with archive.judging(key):
                read_state(key)
        if key == 'runs/*' and right[0] is chain[0]:
            archive.find('seal-broken', key, archive.open[kind, key]['problem'])

def check_stamps(archive, right, chain, roots):
    """`seals/00000042.NAME.tsr` is an authority's answer (RFC 3161) over the SHA-256 of a seal's first line. It leads,
    at its own time, to a root that was given or that the plan of a seal names. If roots were given, one of them says
    within three days of each seal's time that this seal, or a later one, existed."""
    planned = {one['root'] for seal in chain for one in seal['plan'].get('timestamps', [])}
    known = roots + [ssl.DER_cert_to_PEM_cert(base64.b64decode(one)).encode() for one in sorted(planned)]
    digests, covered = {seal['number']: seal['sha256'] for seal in right}, {}
    for key, name in archive.of('stamp'):
        with archive.judging(key):
            data, number = archive.read(key)[0], int(name.number)
            if key in archive.sealed and not archive.is_sealed(key, sha256(data)):
                continue
            is_whole = data[:2] == b'\x30\x82' and len(data) == 4 + int.from_bytes(data[2:4], 'big')
            if not is_whole or number not in digests or not stamp_time(data, digests[number], known):
                raise ValueError('it is not a stamp of a right seal, or leads to no root that is known')
            existed = stamp_time(data, digests[number], roots) or archive.now
            covered[number] = min(existed, covered.get(number, existed))
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
    at = datetime.strptime(' '.join(match.groups()), '%b %d %H:%M:%S %Y').replace(tzinfo=timezone.utc).timestamp()
    question = ('ts', '-verify', '-digest', digest, '-in', '{stamp}', '-CAfile', '{roots}', '-attime', '%d' % at)
    # Each by itself: of two roots of one name, as an authority has that renews its own, openssl takes the first.
    each = re.findall(b'-----BEGIN CERTIFICATE.*?-----END CERTIFICATE-----', b''.join(roots), re.DOTALL)
    return at if any(openssl(*question, stamp=data, roots=root) is not None for root in each) else None

def parse_record(data, name):
    """A run record is JSON Lines in UTF-8, each of at most 1 MiB and ended by LF, none with CR: the run, and behind it
    as many outcomes as it says. Run, shard and attempt are those of its key."""
    *lines, rest = data.split(b'\n')
    if rest or not lines or b'\r' in data or max(map(len, lines)) > 1024 * 1024 or len(data) > 256 * 1024 * 1024:
        raise ValueError('its lines are not those of a run record')
    run, outcomes = parse_json(lines[0], 'RUN'), [parse_json(line, 'OUTCOME') for line in lines[1:]]
    shard = [run['shard']['index'], run['shard']['count']] if 'shard' in run else []
    said = [float(one) for one in (name.index, name.count, name.attempt) if one]
    if run['run'] != name.run or shard + [run['attempt']] != said or run['outcomes'] != len(outcomes):
        raise ValueError('it is of another run, shard or attempt than its key, or has not as many outcomes as it says')
    return dict(run, outcomes=outcomes)

def adds_up(record):
    """A record has each cluster and resource once, and the key of its object where it is archived, nowhere else; what
    it archived has hash, lengths and a time within the attempt; counts and status are those of its outcomes; an attempt
    takes 15 minutes at most. Two hours are allowed between clocks."""
    begun, ended, tasks, counted = seconds(record['startedAt']), seconds(record['finishedAt']), set(), Counter()
    right = -2 * HOUR <= ended - begun <= 2.25 * HOUR
    for one in record['outcomes']:
        task, name = (one['cluster'], one['resource'], record['run']), name_of(one.get('key', ''))
        is_own = bool(name) and (name.cluster, name.kind, name.run) == task
        right &= task not in tasks and (is_own if is_stored(one) else 'key' not in one)
        if one['outcome'] == 'archived':
            right &= {'sha256', 'bytes', 'storedBytes', 'fetchedAt'} <= set(one) and (
                begun - 2 * HOUR <= seconds(one['fetchedAt']) <= ended + 2 * HOUR)
        tasks.add(task)
        counted['optional' if one.get('optional') and not is_stored(one) else one['outcome']] += 1
    names = {'archived': 'archived', 'alreadyArchived': 'already-archived', 'failed': 'failed',
             'notAttempted': 'not-attempted', 'optionalMissing': 'optional'}
    right &= all(record['counts'].get(name, 0) == counted[became] for name, became in names.items())
    is_complete = counted['failed'] + counted['not-attempted'] == 0
    return right and not counted['would-archive'] and (record['status'] == 'complete') == is_complete

def agree(records, are_all):
    """One record of a run archived an object, and all give it one hash and one time; a hash comes from the record that
    archived it. A record that is there twice, word for word but for its number, counts once."""
    said = defaultdict(set)
    for at, record in enumerate(records):
        is_again = any(dict(record, attempt=0) == dict(one, attempt=0) for one in records[:at])
        for one in filter(is_stored, [] if is_again else record['outcomes']):
            for name, value in {**one, 'archived': at}.items():
                if name in ('sha256', 'fetchedAt') or (name, one['outcome']) == ('archived', 'archived'):
                    said[one.get('key'), name].add(value)
    return all(len(values) == 1 and (name != 'sha256' or not are_all or (key, 'archived') in said)
               for (key, name), values in said.items())

def check_records(archive, run, names):
    """A run record is what its seal has. If it was there when the newest seal was made, a seal has it. It names a
    configuration. Attempts of a shard are numbered from 1. Returns the records, and one that is of no use any more."""
    records, lost, attempts, is_whole = [], None, defaultdict(list), True
    for key, name in names:
        record, written = None, archive.now
        with archive.judging(key):
            _, _, written = archive.look_up(key)
            data, _ = archive.read(key)
            archive.is_sealed(key, sha256(data))
            record = parse_record(data, name)
            records.append(record)
            if not adds_up(record) or seconds(run) > archive.now + 2 * HOUR:
                archive.find('contradiction', key, 'it does not add up, or is of the future')
            check_configuration(archive, 'configurations/%s.json.gz' % record['configuration'])
        if is_unsealed(archive, key, written, record):
            archive.find('unsealed', key, 'it was there when the newest seal was made, and no seal of that time has it')
        if not record and {('forged', key), ('unsealed', key)} & set(archive.findings):
            lost = key
        before, own = attempts[name.index, name.count], int(name.attempt)
        if own > max(before + [0]) + 1:
            first = re.sub(r'\d+\.jsonl', '%d.jsonl' % (max(before + [0]) + 1), key)
            archive.find('missing', first, 'there are records of later attempts')
            is_whole = False
        before.append(own)
    if not agree(records, is_whole and len(records) == len(names)):
        archive.find('contradiction', re.sub(r'Z\..*', 'Z.*', names[0][0]), 'its records do not agree')
    return records, lost

def is_unsealed(archive, key, written, record):
    """What is 15 minutes older than the newest seal's listing is in a seal, but for what that seal says that it could
    not read; in a part everything is. What an audit found unsealed it has sealed itself, which excuses nothing."""
    sealed, found = archive.sealed.get(key), archive.open.get(('unsealed', key))
    if sealed or archive.part or not archive.head:
        is_again = sealed and found and sealed['by']['seal'] >= found['since']
        return is_again if sealed else archive.part and archive.of('seal')
    unread = archive.head['unread']
    if key in unread['keys'] or (unread['behind'] is not None and key > unread['behind']):
        return False
    ended = seconds(record['finishedAt']) + 2 * HOUR if record else written
    return min(written, ended) < seconds(archive.head['listedFrom']) - HOUR / 4

def check_configuration(archive, key):
    """`configurations/SHA-256.json.gz` is what runs had to collect; the SHA-256 is that of its JSON."""
    with archive.judging(key):
        text = gunzip(archive.read(key)[0], 64 * 1024 * 1024)
        if sha256(text) != name_of(key).hash or not parse_json(text, 'CONFIGURATION'):
            raise ValueError('its content does not have the SHA-256 that its key says')

ABOUT = {  # What an object's metadata call members of its outcome, and the most characters that they have of it.
    'fetched-at': ('fetchedAt', 99), 'sha256': ('sha256', 99), 'length': ('bytes', 99), 'state': ('state', 300),
    'media-type': ('mediaType', 160), 'record-uid': ('recordUid', 200), 'record-last-modified': ('lastModified', 100),
    'log-length': ('logLength', 99), 'log-lines': ('logLines', 99), 'log-sha256': ('logSha256', 99),
    'doubt': ('doubt', 200), 'version': ('collectorVersion', 2000)}

def encode(value, most):
    """Values of metadata are percent-encoded UTF-8, cut between characters."""
    text = ''
    for one in value if is_text(value) else '%d' % value:
        part = quote(re.sub('[\ud800-\udfff]', '\ufffd', one), safe="!~*'():/")
        if len(text + part) > most:
            break
        text += part
    return text

def check_object(archive, key, outcome=None):
    """Metadata names cluster, resource and run of the key; the content has its length and SHA-256, and the run record
    says the same; without metadata, the content is what the record says. An `already-archived` outcome is compared in
    hash, lengths and time alone, as far as it has them. Returns whether a seal itself has this content."""
    (data, about), name = archive.read(key), name_of(key)
    meta = about['userMetadata'] if about else {}
    own = {'cluster-uid': encode(name.cluster, 2000), 'resource': name.kind, 'run': name.run}
    is_own = {**meta, **own} == meta and is_time(meta.get('fetched-at', name.run))
    if about and not (is_own and re.fullmatch('0|[1-9][0-9]{0,14}', meta.get('length', ''))):
        raise ValueError('its metadata is not there, or of another object')
    content = gunzip(data, int(meta['length']) if about else 2**40)
    found, length = sha256(content), len(content)
    if about and (found, length) != (meta.get('sha256'), int(meta['length'])):
        raise ValueError('its content is not the one that its metadata says')
    is_sealed = archive.is_sealed(key, found)
    one = outcome or {'outcome': 'already-archived'}
    if not about and (one.get('sha256', found), one.get('bytes', length)) != (found, length):
        raise ValueError('its content is not the one that its run record says')
    said = {title: encode(one[member], most) for title, (member, most) in ABOUT.items() if member in one}
    titles = ABOUT if one['outcome'] == 'archived' else {'fetched-at', 'sha256', 'length'} & set(said)
    is_other = about and any(said.get(title) != meta.get(title) for title in titles)
    if is_other or one.get('storedBytes', len(data)) != len(data):
        archive.find('contradiction', key, 'its run record says another thing than the object itself')
    return is_sealed

def check_named(archive, records):
    """What a run archived is there, and is what the first record says that archived it, else the first that has a hash.
    Returns the keys of these objects."""
    said, named = [dict(one, collectorVersion=record['collectorVersion']) for record in records
                   for one in filter(is_stored, record['outcomes'])], {}
    for one in sorted(said, key=lambda one: 2 if one['outcome'] == 'archived' else 'sha256' in one, reverse=True):
        named.setdefault((one['resource'], one['cluster']), one)
    names = {one['key']: one for one in named.values() if name_of(one.get('key', '')) and name_of(one['key']).cluster}
    for key, one in names.items():
        if archive.has(name_of(key)):
            with archive.judging(key):
                check_object(archive, key, one)
    return names

def check_unnamed(archive, key, lost):
    """An object that no run record names is `unrecorded`. If a sealed run record of its run is gone or forged, that is
    the damage, and nothing vouches for its objects. What was written within nine hours may still be recorded."""
    problem = is_sealed = None
    try:
        if not archive.part and archive.look_up(key)[2] > archive.now - 9 * HOUR:
            return archive.find('pending', key, 'no run record has it yet; it was written a short time ago')
        is_sealed = check_object(archive, key)
    except WRONG as error:
        problem = error
    if not lost or is_sealed or not archive.has(name_of(key)):
        return archive.find('unrecorded', key, 'no run record says that it was archived')
    archive.find('damaged' if problem else 'unvouched', key, problem or 'only %s vouches for it, which is lost' % lost)

def judge(folder, now, keys, heads, roots, is_part):
    """Seals first, then runs and what they name, then everything else. What is sealed is there."""
    archive = Archive(folder, now, is_part)
    list_keys(archive)
    right = read_seals(archive, list(keys))
    archive.head = right[-1] if right else None
    chain = follow_chain(archive, right)
    take_state(archive, right, chain)
    for head in heads:
        if head not in [seal['sha256'] for seal in chain]:
            archive.find('seal-broken', 'seals/*', 'no seal in the chain has the SHA-256 %s, which was given' % head)
    if (keys or roots) and not archive.of('seal'):
        archive.find('seal-broken', 'seals/*', 'a key or an authority was given, and the archive has no seal')
    check_stamps(archive, right, chain, roots)
    runs, lost, named = defaultdict(list), {}, set()
    for key, name in archive.of('record'):
        runs[name.run].append((key, name))
    for run, names in sorted(runs.items()):
        order = lambda one: [int(number or -1) for number in (one[1].count, one[1].index, one[1].attempt)]
        records, lost[run] = check_records(archive, run, sorted(names, key=order))
        named.update(check_named(archive, records))
    for key, sealed in archive.sealed.items():
        name = name_of(key)
        is_there = key in archive.names or key in named and os.path.isfile(os.path.join(folder, key))
        if name and archive.has(name) and not is_there:
            archive.find('missing', key, 'seal %d has it, and it is not there' % sealed['by']['number'])
            lost[name.run] = key if name.kind == 'record' else lost.get(name.run)
    for key, name in archive.names.items():
        if name.kind == 'configuration':
            check_configuration(archive, key)
        if name.cluster and key not in named:
            check_unnamed(archive, key, lost.get(name.run))
    plan = archive.head['plan'] if right else {}
    known = {(one['kind'], one['key']) for one in plan.get('acknowledged', [])}
    damage = {one for one in archive.findings if one[0] not in ('unvouched', 'pending')} - known
    findings = sorted(archive.findings.items(), key=lambda one: (KINDS.index(one[0][0]), one[0][1]))
    return [(*one, text) for one, text in findings], 1 if damage else 0 if runs else 3

def main():
    """See the top of this file."""
    parser = argparse.ArgumentParser(description='Judges an archive in a folder.')
    parser.add_argument('folder')
    parser.add_argument('--public-key', nargs='+', default=[], metavar='FILE', help='PEM of keys that may have signed')
    parser.add_argument('--head', nargs='+', default=[], metavar='SHA256', help='of seals, as mails told them')
    parser.add_argument('--tsa-ca', nargs='+', default=[], metavar='FILE', help='PEM of roots of authorities of stamps')
    parser.add_argument('--part', action='store_true', help='the folder is a part that "export" wrote')
    options = parser.parse_args()
    sys.stdout.reconfigure(errors='backslashreplace')
    try:
        keys = [re.sub(r'-----[^-]*-----|\s', '', open(file).read()) for file in options.public_key]
        roots = [open(file, 'rb').read() for file in options.tsa_ca]
        findings, code = judge(options.folder, time.time(), keys, options.head, roots, options.part)
        print('\n'.join(['%s %s: %s' % one for one in findings] or ['Nothing is wrong.']))
        return code
    except (OSError, *WRONG) as error:
        print('It could not be checked: %s' % error, file=sys.stderr)
        return 3

if __name__ == '__main__':
    sys.exit(main())
