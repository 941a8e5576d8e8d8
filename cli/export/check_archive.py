#!/usr/bin/env python3
"""A second judge of an archive of logs and manifests in a folder. It shares no code with the collector, so that both
are not wrong in the same way. It needs Python 3.9 and openssl. Each function begins with the rule that it checks.

    python3 check_archive.py FOLDER [--part] [--cluster UID] [--from TIME] [--to TIME]
                             [--public-key FILE…] [--head SHA256…]

It says first what it judged, then prints one line for each finding. Exit codes: 0 sound, 1 not sound, 2 wrong command
line, 3 it could not be checked. It judges archives in which nothing has expired: what was recorded or sealed has to be
there. --part: the folder is a copy of what --cluster, --from and --to say, judged as of its newest seal."""
import argparse, base64, contextlib, functools, hashlib, json, os, re, signal, ssl, stat, subprocess, sys, tempfile, time
import zlib
from collections import Counter, defaultdict
from datetime import datetime
from types import SimpleNamespace
from urllib.parse import quote, unquote

CLUSTER = r'cluster=(?P<cluster>(?:[A-Za-z0-9_.-]|%[0-9A-F]{2})+)/'
RUN = r'date=(?P<day>[\d-]{10})/(?P<time>\d{8}T\d{6}\.\d{3})Z\.'
SHARD = r'(?:shard-(?P<index>0|[1-9]\d{0,8})-of-(?P<count>0|[1-9]\d{0,8})\.)?'
NUMBER, HASH = r'seals/(?P<number>(?!0{8})\d{8}|[1-9]\d{8,11})\.', r'(?P<hash>[0-9a-f]{64})\.'
KEYS = {  # What may lie in an archive.
    'log': 'logs/' + CLUSTER + RUN + r'json\.gz',
    'manifest': 'manifests/' + CLUSTER + RUN + r'txt\.gz',
    'record': 'runs/' + RUN + SHARD + r'attempt-(?P<attempt>0|[1-9]\d{0,8})\.jsonl',
    'configuration': 'configurations/' + HASH + r'json\.gz',
    'seal': NUMBER + 'jsonl', 'state': 'seals/states/' + HASH + 'json', 'stamp': NUMBER + r'[a-z][a-z0-9-]*\.tsr'}
OWN_FOLDERS = ('metadata', '.metadata-incoming', '.metadata-keys')
FILE_MANAGERS = r'\.DS_Store|Thumbs\.db|desktop\.ini|@eaDir|\._.+'  # What they leave in a folder is passed over.
PART_FILES = ('seals-public-key.pem', 'CHECK.md', 'check_archive.py')
NOT_JUDGED = '''Not judged: whether a run was due that no seal calls absent, what a configuration says, headers, the text
within a log, a shorter retention, whether stamps are in time.'''
UNRECORDED = 'no run record says that it was archived'
MEBIBYTE = 1024 * 1024
PUBLIC_KEY = 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE[A-Za-z0-9+/]{85}[AQgw]=='  # SPKI of the curve P-256, in base64
GONE = (FileNotFoundError, NotADirectoryError)
WRONG = (ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error, *GONE)  # What wrong bytes raise.
HOUR = 3600.0
sha256 = lambda data: hashlib.sha256(data).hexdigest()
to_base64 = lambda data: base64.b64encode(data).decode()
is_stored = lambda outcome: outcome['outcome'] in ('archived', 'already-archived')
escaped = lambda text: ''.join(one if one.isprintable() else '\\u{%x}' % ord(one) for one in text)
EVERYTHING = SimpleNamespace(is_part=False, cluster=None, since=None, until=None, heads=())

def seconds(text):
    """A time is ISO 8601 in UTC with milliseconds, and exists. Returns seconds since 1970, or None."""
    with contextlib.suppress(TypeError, ValueError):
        if re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', text, re.ASCII):
            return datetime.fromisoformat(text[:-1] + '+00:00').timestamp()
    return None

is_time = lambda value: seconds(value) is not None
is_hash = lambda value: re.fullmatch('[0-9a-f]{64}', value)
is_text = lambda value: type(value) is str
is_count = lambda value: type(value) is float and value.is_integer() and 0 <= value < 2 ** 53
one_of = lambda *values: lambda value: type(value) is type(values[0]) and value in values
RULES = {  # What members of JSON are. Others are judged where they are used, or ignored.
    **dict.fromkeys(('bytes', 'receivedBytes', 'storedBytes', 'httpStatus', 'requests', 'durationMs'), is_count),
    **dict.fromkeys(('cluster', 'key', 'stopped', 'error', 'doubt', 'etag'), is_text),
    'run': is_time, 'startedAt': is_time, 'finishedAt': is_time, 'fetchedAt': is_time, 'seal': is_time,
    'listedFrom': is_time, 'configuration': is_hash, 'sha256': is_hash, 'logSha256': is_hash, 'version': one_of(1.0),
    'optional': one_of(True), 'trigger': one_of('schedule', 'manual'), 'status': one_of('complete', 'incomplete'),
    'resource': one_of('log', 'manifest'),
    'outcome': one_of('archived', 'already-archived', 'failed', 'not-attempted', 'would-archive')}

def parse_json(data, required):
    """JSON in UTF-8. Of a member that is there twice, the last one counts. 1, 1.0 and 1e0 are one number."""
    value = json.loads(data.decode('utf-8'), parse_int=float, parse_constant=int)
    missing = set(required.split()) - set(value)
    wrong = [name for name, is_right in RULES.items() if name in value and not is_right(value[name])]
    if missing or wrong:
        raise ValueError('its JSON lacks, or has with another value than it may be: %s' % [*missing, *wrong])
    return value

def gunzip(data, most):
    """gzip of one member or several, with nothing behind it, and no more content than it is said to have. It is read in
    small pieces: what follows a member is copied, and there may be very many empty ones."""
    parts, length, at, rest, unpack = [], 0, 0, b'', None
    while rest or at < len(data):
        if not rest:
            rest, at = data[at:at + 4096], at + 4096
        unpack = unpack or zlib.decompressobj(31)
        parts.append(unpack.decompress(rest, most - length + 1))
        length += len(parts[-1])
        if length > most:
            raise ValueError('its content is longer than %d bytes' % most)
        rest, unpack = (unpack.unused_data, None) if unpack.eof else (unpack.unconsumed_tail, unpack)
    if unpack or not data:
        raise ValueError('its gzip ends too early')
    return b''.join(parts)

class Archive:
    """A folder: what its keys say, what its seals have of them, and what was found."""
    def __init__(self, folder, now, asked):
        self.folder, self.now, self.asked = folder, now, asked
        self.names, self.sealed, self.head, self.lost, self.findings = {}, {}, None, set(), {}

    def find(self, kind, key, problem):
        self.findings.setdefault((kind, key), str(problem))

    def of(self, kind):
        return [(key, name) for key, name in self.names.items() if name.kind == kind]

    @contextlib.contextmanager
    def judging(self, key):
        """What is not what it should be is `damaged`, or `missing` if it is not there; below `seals/` `seal-broken`."""
        try:
            yield
        except WRONG as error:
            kind = 'missing' if isinstance(error, GONE) else 'damaged'
            self.find('seal-broken' if key.startswith('seals/') else kind, key, error)

    def is_sealed(self, key, found):
        """What a right seal names has the SHA-256 that it says. Returns whether a seal has this one."""
        if self.sealed.get(key, found) != found:
            self.find('forged', key, 'its SHA-256 is not the one in a seal')
        return self.sealed.get(key) == found

    def has(self, name):
        """What was asked for: the objects of one cluster or of all, and all records of the runs of a period."""
        is_within = not name.run or (self.asked.since or name.run) <= name.run <= (self.asked.until or name.run)
        return is_within and name.cluster in (None, self.asked.cluster or name.cluster)

    def stat(self, path):
        """Only a regular file is read."""
        found = os.lstat(os.path.join(self.folder, path))
        if not stat.S_ISREG(found.st_mode):
            raise ValueError('it is not a regular file')
        return found

    def read_file(self, path):
        self.stat(path)
        with open(os.path.join(self.folder, path), 'rb') as file:
            return file.read()

    def describe(self, key):
        """`metadata/KEY.json` has an object's headers, user metadata, time and CRC-32. Without it only its bytes are
        known, and an object of a run was not written later than nine hours behind it: the copying sets another time.
        Returns (description or None, time of writing)."""
        found = self.stat(key)
        try:
            text = self.read_file('metadata/%s.json' % key)
        except GONE:
            name = name_of(key)
            latest = seconds(name.run) + 9 * HOUR if name and name.cluster else found.st_mtime
            return None, min(found.st_mtime, latest)
        about = parse_json(text, 'etag userMetadata checksums lastModified')
        texts = [*about['userMetadata'].values(), *about['checksums'].values(), about.get('contentType', ''),
                 about.get('contentEncoding', '')]
        if not is_time(about['lastModified']) or not all(map(is_text, texts)) or len(text) > 64 * 1024:
            raise ValueError('what is known of it has no time, or members that are not texts, or is too long')
        return about, seconds(about['lastModified'])

    def read(self, key):
        """Stored bytes have the CRC-32 that they were written with. Returns (bytes, description or None)."""
        data, about = self.read_file(key), self.describe(key)[0]
        if about and about['checksums'].get('crc32') not in (None, to_base64(zlib.crc32(data).to_bytes(4, 'big'))):
            raise ValueError('its stored bytes do not have the CRC-32 that they were written with')
        return data, about

def name_of(key):
    """What a key says: its run and its date are of one time. None: it is not a key of an archive."""
    for kind, form in KEYS.items():
        match = re.fullmatch(form, key, re.ASCII)
        if match:
            name = SimpleNamespace(**{'cluster': None, 'run': None, **match.groupdict(), 'kind': kind})
            if name.cluster:
                segment, name.cluster = name.cluster, unquote(name.cluster, errors='replace')
                if quote(name.cluster, safe='').replace('~', '%7E') != segment:
                    return None
            if 'time' in match.groupdict():
                name.run = re.sub(r'(....)(..)(..T..)(..)(.*)', r'\1-\2-\3:\4:\5Z', name.time)
                if not is_time(name.run) or name.run[:10] != name.day:
                    return None
            return name
    return None

def list_keys(archive, path=''):
    """Nothing else lies in the folder: any other file is `unrecorded`, outside of the prefixes once for each folder. No
    link is followed, and no folder with what is known of objects beside. A name has up to 250 bytes."""
    for entry in os.scandir(os.path.join(archive.folder, path)):
        is_folder, leads_to_one = entry.is_dir(follow_symlinks=False), False
        with contextlib.suppress(OSError):
            leads_to_one = entry.is_dir()
        if is_folder and path + entry.name in OWN_FOLDERS or re.fullmatch(FILE_MANAGERS, entry.name, re.DOTALL):
            continue
        if is_folder and len(os.fsencode(entry.name)) <= 250:
            list_keys(archive, path + entry.name + '/')
            continue
        key = os.fsencode(path + entry.name + ('/' if leads_to_one else '')).decode('utf-8', 'replace')
        name = name_of(key)
        if name and archive.has(name):
            archive.names[key] = name
        elif name and not archive.asked.is_part:
            continue
        elif re.match('(logs|manifests|runs|configurations|seals)/', key):
            archive.find('unrecorded', key, 'it is not a key of this archive, or not of this part')
        elif not archive.asked.is_part or key not in PART_FILES:
            archive.find('unrecorded', re.sub('(?s)/.*', '/*', key), 'it lies outside what the collector writes')

@functools.lru_cache(maxsize=None)
def openssl(*arguments, **files):
    """Runs openssl in a folder with these files. Returns what it prints; None: it refuses."""
    with tempfile.TemporaryDirectory() as work:
        for name, data in files.items():
            with open(os.path.join(work, name), 'wb') as file:
                file.write(data)
        done = subprocess.run(['openssl', *arguments], cwd=work, capture_output=True)
    return done.stdout.decode('utf-8', 'replace') if done.returncode == 0 else None

def signed_line(data):
    """A seal's file has two lines. The second has the SHA-256 of the first without its LF, of which these 64 characters
    are signed: just four members, in this order, without a space. Returns (line, key)."""
    line, _, rest = data.partition(b'\n')
    match = re.fullmatch(r'\{"sha256":"(.{64})","algorithm":"ECDSA_SHA_256","publicKey":"(%s)","signature":"([^"]+)"\}'
                         r'\n' % PUBLIC_KEY, rest.decode('latin-1'))
    if not match or to_base64(base64.b64decode(match[3])) != match[3]:
        raise ValueError('it does not have just two lines, the second with the four members of a signature')
    key = '-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n' % match[2]
    files = {'key': key.encode(), 'signature': base64.b64decode(match[3]), 'text': match[1].encode()}
    is_signed = openssl('dgst', '-sha256', '-verify', 'key', '-signature', 'signature', 'text', **files) is not None
    if match[1] != sha256(line) or not is_signed:
        raise ValueError('it was changed after it was signed, or its signature is wrong')
    return line, match[2]

def read_seals(archive, trusted):
    """A seal is signed with a key that was given, else with that of the first, and with no former one after a later
    one. It has the number of its key, and no other hash of a key than one before it. Returns the right ones in order."""
    right, last = [], None
    for key, name in sorted(archive.of('seal'), key=lambda one: int(one[1].number)):
        with archive.judging(key):
            line, signer = signed_line(archive.read(key)[0])
            trusted = trusted or {signer}
            if signer not in trusted:
                raise ValueError('it is signed with a key that is not trusted, or not any more')
            if last != signer:
                trusted.discard(last)
            last = signer
            seal = parse_json(line, 'version number archive seal listedFrom previous passedOver records '
                                    'objects stamps unread plan state')
            if seal['number'] != int(name.number) or right and seal['archive'] != right[0]['archive']:
                raise ValueError('it is a seal of another number or archive')
            for one in seal['records'] + seal['objects'] + seal['stamps']:
                if archive.sealed.setdefault(one['key'], one['sha256']) != one['sha256']:
                    archive.find('seal-broken', key, 'an earlier seal has another hash of ' + one['key'])
            right.append(dict(seal, key=key, sha256=sha256(line)))
    return right

def check_chain(archive, right):
    """Each seal names the one before it, its SHA-256, and how many numbers lie between. The state of the newest is
    there. What it has of seals and records that only an audit saw in time stays open."""
    by_key = {seal['key']: seal for seal in right}
    for at, seal in enumerate(right):
        previous, number = seal['previous'], 0
        if previous:
            number, named = int(name_of(previous['key']).number), by_key.get(previous['key'])
            if named and named['sha256'] != previous['sha256'] or previous['key'] not in archive.names:
                archive.find('seal-broken', previous['key'], 'a later seal names it, and it is not there')
        if number + seal['passedOver']['count'] + 1 != seal['number']:
            archive.find('seal-broken', seal['key'], 'it does not say what lies between it and the seal before it')
        beside = [one['key'] for one in right[:at] if one['number'] > number]
        if beside:
            archive.find('seal-broken', beside[0], 'it is right, and no later seal leads there')
    state = 'seals/states/%s.json' % archive.head['state']
    with archive.judging(state):
        if sha256(archive.read(state)[0]) != archive.head['state']:
            raise ValueError('it has another SHA-256')
        for one in json.loads(archive.read(state)[0])['open']['first']:
            if one['kind'] == 'unsealed' or re.match(r'runs/\*|seals/states/', one['key']):
                archive.find(one['kind'], one['key'], one['problem'])

def check_stamps(archive, right):
    """`seals/00000042.NAME.tsr` is an authority's answer (RFC 3161) over the SHA-256 of a seal's first line. It leads,
    at its own time, to a root that the plan of a seal names."""
    planned = {one['root'] for seal in right for one in seal['plan'].get('timestamps', [])}
    roots = [ssl.DER_cert_to_PEM_cert(base64.b64decode(one)).encode() for one in sorted(planned)]
    digests = {seal['number']: seal['sha256'] for seal in right}
    for key, name in archive.of('stamp'):
        with archive.judging(key):
            data, digest = archive.read(key)[0], digests.get(int(name.number), '')
            if key in archive.sealed and not archive.is_sealed(key, sha256(data)):
                continue
            is_whole = data[:2] == b'\x30\x82' and len(data) == 4 + int.from_bytes(data[2:4], 'big')
            text = openssl('ts', '-reply', '-in', 'stamp', '-text', stamp=data) or ''
            # Before the time stands text that the answer's sender chose.
            said = re.findall(r'^Time stamp: (?:(\w+ +\d+ [\d:]+)\S* (\d+) GMT)?', text, re.MULTILINE)
            if not is_whole or len(said) != 1 or not said[0][0]:
                raise ValueError('it is not a stamp, or has more than one time')
            at = datetime.strptime(' '.join(said[0]) + ' +0000', '%b %d %H:%M:%S %Y %z').timestamp()
            question = ('ts', '-verify', '-digest', digest, '-in', 'stamp', '-CAfile', 'root', '-attime', '%d' % at)
            if all(openssl(*question, stamp=data, root=root) is None for root in roots):
                raise ValueError('it is not a stamp of a right seal, or leads to no root that a seal names')

def parse_record(data, name):
    """A run record is JSON Lines in UTF-8, each of at most 1 MiB and ended by LF, none with CR: the run, and behind it
    as many outcomes as it says. Run, shard and attempt are those of its key."""
    *lines, rest = data.split(b'\n')
    if rest or not lines or b'\r' in data or max(map(len, lines)) > 1024 * 1024:
        raise ValueError('its lines are not those of a run record')
    run = parse_json(lines[0], 'version run startedAt finishedAt attempt trigger status collectorVersion '
                               'functionVersion invocation configuration counts outcomes')
    outcomes = [parse_json(line, 'cluster resource outcome') for line in lines[1:]]
    shard = [run['shard']['index'], run['shard']['count']] if 'shard' in run else []
    of_key = [float(one) for one in (name.index, name.count, name.attempt) if one]
    is_own = run['run'] == name.run and shard + [run['attempt']] == of_key and 0 not in of_key[-2:]
    if not is_own or run['outcomes'] != len(outcomes):
        raise ValueError('it is of another run, shard or attempt than its key, or has not as many outcomes as it says')
    return dict(run, outcomes=outcomes)

def adds_up(record):
    """A record has each cluster and resource once, a key where it is archived, and nowhere else; counts and status are
    those of its outcomes; an attempt takes 15 minutes at most, and two hours are allowed between clocks."""
    begun, ended, tasks, counted = seconds(record['startedAt']), seconds(record['finishedAt']), set(), Counter()
    for one in record['outcomes']:
        task, name = (one['cluster'], one['resource'], record['run']), name_of(one.get('key', ''))
        is_own = bool(name) and (name.cluster, name.kind, name.run) == task
        if task in tasks or one['outcome'] == 'would-archive' or is_own != is_stored(one) or 'key' in one and not is_own:
            return False
        tasks.add(task)
        if one['outcome'] == 'archived':
            if not {'sha256', 'bytes', 'storedBytes', 'fetchedAt'} <= set(one):
                return False
            if not begun - 2 * HOUR <= seconds(one['fetchedAt']) <= ended + 2 * HOUR:
                return False
        is_excused = 'optional' in one and not is_stored(one)
        counted['optional' if is_excused else one['outcome']] += 1
    counts, is_complete = record['counts'], counted['failed'] + counted['not-attempted'] == 0
    said = [counts['archived'], counts['alreadyArchived'], counts['failed'], counts['notAttempted'],
            counts.get('optionalMissing', 0)]
    found = [counted[became] for became in ('archived', 'already-archived', 'failed', 'not-attempted', 'optional')]
    is_quick = -2 * HOUR <= ended - begun <= 2.25 * HOUR
    return is_quick and said == found and is_complete == (record['status'] == 'complete')

def check_records(archive, run, names):
    """A run record is what its seal has. One that is older by 15 minutes than the newest seal's listing has a seal, but
    for those that this seal could not read; in a part every one has. Its configuration and the attempt before it are
    there. Returns the records that can be read."""
    records = []
    for key, name in sorted(names, key=lambda one: int(one[1].attempt)):
        written, record = archive.now, None
        with archive.judging(key):
            data, written = archive.read(key)[0], archive.describe(key)[1]
            archive.is_sealed(key, sha256(data))
            read = dict(parse_record(data, name), written=written)
            if not adds_up(read) or seconds(run) > archive.now + 2 * HOUR:
                archive.find('contradiction', key, 'it does not add up, or is of the future')
            record = read
            records.append(record)
            configuration = 'configurations/%s.json.gz' % record['configuration']
            if configuration not in archive.names:
                archive.find('missing', configuration, 'a run record names it')
            written = min(written, seconds(record['finishedAt']) + 2 * HOUR)
        if archive.head and key not in archive.sealed:
            unread, listed = archive.head['unread'], seconds(archive.head['listedFrom'])
            is_unread = key in unread['keys'] or unread['behind'] is not None and key > unread['behind']
            if archive.asked.is_part or written < listed - HOUR / 4 and not is_unread:
                archive.find('unsealed', key, 'it was there when the newest seal was made, which does not have it')
        if not record and {('forged', key), ('unsealed', key)} & set(archive.findings):
            archive.lost.add(run)
        before = key.replace('attempt-%s.' % name.attempt, 'attempt-%d.' % (int(name.attempt) - 1))
        if int(name.attempt) > 1 and before not in archive.names:
            archive.find('missing', before, 'there are records of later attempts')
    return records

ABOUT = {  # What an object's metadata call members of its outcome.
    'fetched-at': 'fetchedAt', 'sha256': 'sha256', 'length': 'bytes', 'state': 'state', 'media-type': 'mediaType',
    'record-uid': 'recordUid', 'record-last-modified': 'lastModified', 'log-length': 'logLength',
    'log-lines': 'logLines', 'log-sha256': 'logSha256', 'doubt': 'doubt', 'version': 'collectorVersion'}

LATE_DOUBT = re.compile('(^|; )another answer of the same attempt belongs to another cluster$')

def is_said(text, value):
    """Values of metadata are percent-encoded UTF-8; the end of long ones may be cut."""
    if text is None or value is None:
        return text == value
    value = value if isinstance(value, str) else '%d' % value
    encoded = quote(re.sub('[\ud800-\udfff]', '\ufffd', value), safe="!~*'():/")
    return text == encoded or len(text) > 80 and encoded.startswith(text)

def check_object(archive, key, outcomes):
    """Metadata names cluster, resource and run of the key; the content has its length and SHA-256, and the run records
    say the same, one that archived it all of that. Without metadata, the content is what the records say."""
    (data, about), name = archive.read(key), name_of(key)
    meta = about and about['userMetadata']
    said = [int(meta['length'])] if about else [int(one['bytes']) for one in outcomes if 'bytes' in one]
    content = gunzip(data, min([*said, 5000 * MEBIBYTE]))
    found, length = sha256(content), len(content)
    if about and (meta['sha256'], meta['length']) != (found, str(length)):
        raise ValueError('its content does not have the SHA-256 or the length that its metadata says')
    if about:
        own = {'resource': name.kind, 'run': name.run, 'sha256': found, 'length': str(length)}
        is_own = {**meta, **own} == meta and is_said(meta['cluster-uid'], name.cluster)
        if not is_own or not is_time(meta.get('fetched-at', name.run)):
            raise ValueError('its metadata is not there, or of another object')
    elif any((one.get('sha256', found), one.get('bytes', length)) != (found, length) for one in outcomes):
        raise ValueError('its content is not the one that its run record says')
    archive.is_sealed(key, found)
    for one in outcomes:
        titles = [title for title in ('fetched-at', 'sha256', 'length') if ABOUT[title] in one]
        if one['outcome'] == 'archived':
            titles = ABOUT
        before = {**one, 'doubt': LATE_DOUBT.sub('', one.get('doubt', '')) or None}
        is_other = about and not all(
            is_said(meta.get(title), one.get(ABOUT[title])) or is_said(meta.get(title), before.get(ABOUT[title]))
            for title in titles)
        if is_other or one.get('storedBytes', len(data)) != len(data):
            archive.find('contradiction', key, 'its run record says another thing than the object itself')

def check_named(archive, records):
    """What a run archived is there, and is what its records say. Returns the keys of these objects."""
    said, named = defaultdict(list), set()
    for record in records:
        for one in filter(is_stored, record['outcomes']):
            said[one['resource'], one['cluster']].append({**one, 'collectorVersion': record['collectorVersion']})
    for outcomes in said.values():
        outcomes.sort(key=lambda one: (one['outcome'] != 'archived', 'sha256' not in one))
        key = outcomes[0].get('key', '')
        if name_of(key) and name_of(key).cluster:
            named.add(key)
            if sum(one['outcome'] == 'archived' for one in outcomes) > 1:
                archive.find('contradiction', key, 'two run records say that they archived it')
            if archive.has(name_of(key)):
                with archive.judging(key):
                    check_object(archive, key, outcomes)
    return named

def is_in_shard(cluster, shard):
    """A run may be divided by the first four bytes of the SHA-256 of the uids."""
    return not shard or int(sha256(cluster.encode())[:8], 16) % shard['count'] == shard['index']

def is_left(key, written, records):
    """An attempt that was killed leaves objects and no record. A later record of its run and shard says that the object
    was not archived."""
    name = name_of(key)
    said = [one for record in records for one in record['outcomes']
            if (one['cluster'], one['resource']) == (name.cluster, name.kind)]
    later = [one for one in records if one['written'] >= written and is_in_shard(name.cluster, one.get('shard'))]
    return said and later and not any(map(is_stored, said))

def check_unnamed(archive, key, is_lost, records):
    """An object that no run record names is `unrecorded`, unless a record of its run is of no use now, which may have
    named it. What was written within nine hours may still be recorded."""
    is_pending = False
    with contextlib.suppress(*WRONG):
        written = archive.describe(key)[1]
        is_pending = not archive.asked.is_part and (written > archive.now - 9 * HOUR or is_left(key, written, records))
    if is_pending:
        archive.find('pending', key, 'no run record has it, or has it yet')
    elif not is_lost:
        archive.find('unrecorded', key, UNRECORDED)
    else:
        with archive.judging(key):
            check_object(archive, key, [])
            if key in archive.sealed:
                archive.find('unrecorded', key, 'a seal has it, and ' + UNRECORDED)

def judge(folder, now, keys, asked=EVERYTHING):
    """Seals first, then runs and what they name, then everything else. What is sealed is there. Returns the findings,
    whether it is sound, and what was judged."""
    archive = Archive(folder, now, asked)
    list_keys(archive)
    right = read_seals(archive, set(keys))
    if right:
        archive.head = right[-1]
        check_chain(archive, right)
    elif keys:
        archive.find('seal-broken', 'seals/*', 'a key was given, and there is no right seal')
    for head in set(asked.heads) - {seal['sha256'] for seal in right}:
        archive.find('seal-broken', 'seals/*', 'no right seal has the SHA-256 %s, which a mail has' % head)
    check_stamps(archive, right)
    runs, records, named = defaultdict(list), {}, set()
    for key, name in archive.of('record'):
        runs[name.run].append((key, name))
    for run, names in sorted(runs.items()):
        read = check_records(archive, run, names)
        named |= check_named(archive, read)
        records[run] = [] if {key for key, _ in names} & {key for _, key in archive.findings} else read
    for key in archive.sealed:
        name = name_of(key)
        if name and archive.has(name) and key not in archive.names:
            archive.find('missing', key, 'a seal has it, and it is not there')
            if name.kind == 'record':
                archive.lost.add(name.run)
    for key, name in archive.names.items():
        if name.kind == 'configuration':
            with archive.judging(key):
                content = gunzip(archive.read(key)[0], 64 * MEBIBYTE)
                clusters = parse_json(content, 'clusters')['clusters']
                if sha256(content) != name.hash or not all('uid' in one for one in clusters):
                    raise ValueError('its content does not have the SHA-256 that its key says, or a cluster no uid')
        if name.cluster and key not in named:
            check_unnamed(archive, key, name.run in archive.lost, records.get(name.run, []))
    if not runs and not archive.findings:
        raise ValueError('there is no run record in it')
    known = [(one['kind'], one['key']) for one in archive.head['plan'].get('acknowledged', [])] if right else []
    is_sound = all(one in known or one[0] == 'pending' for one in archive.findings)
    findings = [(*one, text) for one, text in sorted(archive.findings.items())]
    return findings, is_sound, judged(archive, right, len(runs), bool(keys))

def counted(count, what):
    return '%d %s%s' % (count, what, '' if count == 1 else 's')

def judged(archive, right, runs, are_keys_given):
    """What was asked for and what there was of it: who reads "nothing is wrong" has to know of what."""
    asked, count = archive.asked, lambda kind: len(archive.of(kind))
    objects = sum(1 for name in archive.names.values() if name.cluster)
    period = ''.join(word + time for word, time in ((' from ', asked.since), (' to ', asked.until)) if time)
    of = 'cluster %s' % asked.cluster if asked.cluster else 'all clusters'
    found = ((runs, 'run'), (count('record'), 'run record'), (objects, 'object'), (len(right), 'seal'))
    lines = ['%s of %s, all runs%s: %s.' % (
        'PART' if asked.is_part else 'Archive', of, period, ', '.join(counted(*one) for one in found))]
    if not right:
        return [*lines, 'Not sealed: nothing attests the run records.', 'Not seen: how many runs were due.', NOT_JUDGED]
    lines.append('The newest seal is number %d of %s, SHA-256 %s, of the archive %s.' % (
        archive.head['number'], archive.head['seal'], archive.head['sha256'], archive.head['archive']))
    lines.append('Signatures were checked with the keys given.' if are_keys_given else
                 "Signatures were checked with the archive's own key, which proves little: give one that you kept to "
                 '--public-key.')
    with contextlib.suppress(*WRONG):
        absent = [one for seal in right for one in seal['due']['absent']
                  if (asked.since or one) <= one <= (asked.until or one)]
        due = sum(int(seal['due']['runs']) for seal in right)
        how_many = 'Not seen: how many runs were due in this period' if period else (
            'By the seals %s due' % (counted(due, 'run') + (' was' if due == 1 else ' were')))
        names = ', '.join(absent[:3]) + (', …' if len(absent) > 3 else '')
        said = '%s; the seals call %d absent%s.' % (how_many, len(absent), ': ' + names if absent else '')
        return [*lines, said, NOT_JUDGED]
    return [*lines, 'Not seen: how many runs were due.', NOT_JUDGED]

def moment(text, end_of_day):
    """A day, or a time in UTC, as run records write it. @raises argparse.ArgumentTypeError"""
    found = re.fullmatch(r'(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d)?(\.\d{3})?Z)?', text, re.ASCII)
    day, hour, second, rest = found.groups() if found else ('', '', '', '')
    whole = '23:59:59.999' if end_of_day else '00:00:00.000'
    time_of = '%sT%sZ' % (day, hour + (second or ':00') + (rest or '.000') if hour else whole)
    if not is_time(time_of):
        raise argparse.ArgumentTypeError('expected a day such as 2026-11-20, or a time such as 2026-11-20T10:00:00Z')
    return time_of

def digest(text):
    if not is_hash(text.lower()):
        raise argparse.ArgumentTypeError('expected a SHA-256: 64 hexadecimal digits')
    return text.lower()

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    add = parser.add_argument
    add('--part', action='store_true', help='the folder is a copy of what --cluster, --from and --to say')
    add('--cluster', metavar='UID', help='of objects only those of this cluster')
    add('--from', dest='since', type=lambda text: moment(text, False), metavar='TIME', help='only runs from then on')
    add('--to', dest='until', type=lambda text: moment(text, True), metavar='TIME', help='only runs up to then')
    add('--public-key', nargs='+', default=[], metavar='FILE', help='PEM of keys that may have signed')
    add('--head', nargs='+', default=[], type=digest, metavar='SHA256', help='of seals that have to be there')
    options = parser.parse_args()
    if options.part and not options.cluster:
        parser.error('--part without --cluster: expected the cluster that the part was asked for')
    asked = SimpleNamespace(is_part=options.part, cluster=options.cluster, since=options.since, until=options.until,
                            heads=options.head)
    if hasattr(signal, 'SIGPIPE'):  # Who reads the beginning alone wants no traceback.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        keys = [re.sub(r'-----[^-]*-----|\s', '', open(file).read()) for file in options.public_key]
        findings, is_sound, said = judge(options.folder, time.time(), keys, asked)
    except (OSError, *WRONG) as error:
        print('It could not be checked: %s' % escaped(str(error)), file=sys.stderr)
        return 3
    for line in said:
        print('\n'.join(map(escaped, line.split('\n'))))
    for one in findings:
        print(escaped('%s %s: %s' % one))
    if not findings:
        print('Nothing is wrong in what was judged.')
    return 0 if is_sound else 1

if __name__ == '__main__':
    sys.exit(main())
