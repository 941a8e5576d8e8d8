import type { BodyFacts } from '../resources';
import { type BodyCheck, InvalidBodyError } from './body-check';
import { JsonError } from './json/json-chunk';
import { type JsonListener, JsonScanner, type JsonType } from './json/json-scanner';
import type { StringSink } from './json/json-string-scanner';
import { MemberNames, StringCapture, TextLength } from './json/string-sinks';

/**
 * Service contract, section 2.1: the members it names, with their types. Of the date-times only the type string is
 * checked: the contract's "ISO 8601" leaves the profile open, and refusing a record because of a format would lose a log.
 */
const sections: Record<string, Record<string, 'object' | 'string'>> = {
  metadata: {
    annotations: 'object',
    creationTimestamp: 'string',
    deletionTimestamp: 'string',
    labels: 'object',
    lastModifiedTimestamp: 'string',
    name: 'string',
    uid: 'string',
  },
  spec: { clusterUid: 'string', log: 'string' },
  status: { state: 'string' },
};

/** Longest name that has to be read: a longer one is none of the contract's. */
const longestName = Math.max(
  ...Object.entries(sections).flatMap(([section, members]) => [section, ...Object.keys(members)].map((n) => n.length)),
);

/** Longest value that is recorded, in UTF-16 code units: a run record holds one of each per cluster. */
const longestValue = 4096;

/** Longest part of a foreign value that an error message shows, in UTF-16 code units. */
const longestShown = 80;

/**
 * Checks a log record (service contract, section 2.1) and hands it on exactly as received.
 *
 * The body must be one JSON object with at least one of `metadata`, `spec` and `status`; members that the contract names
 * have its types and occur once, `spec.clusterUid` is the cluster asked for, and nesting ends at 1,000. A member that is
 * absent, null or unknown to the contract is fine.
 * @param clusterUid the cluster that was asked for
 */
export function createLogRecordCheck(clusterUid: string): BodyCheck {
  return new LogRecordCheck(clusterUid);
}

class LogRecordCheck implements BodyCheck, JsonListener {
  private readonly scanner = new JsonScanner(this);
  private readonly memberName = new StringCapture(longestName);
  private readonly members = new MemberNames();
  private readonly seen = new Set<string>();
  /** The section whose members are being read. */
  private section: string | undefined;
  private hasSection = false;
  private bytes = 0;
  private state: StringCapture | undefined;
  private recordUid: StringCapture | undefined;
  private lastModified: StringCapture | undefined;
  private log: TextLength | undefined;

  constructor(private readonly clusterUid: string) {}

  write(chunk: Buffer): Buffer {
    this.bytes += chunk.length;
    this.scan(() => this.scanner.write(chunk));
    return chunk;
  }

  end(): BodyFacts {
    if (this.bytes === 0) throw new InvalidBodyError('The log record is empty');
    this.scan(() => this.scanner.end());
    if (!this.hasSection) {
      throw new InvalidBodyError(
        (quote) => `The body is ${this.members.describe(quote)}, expected metadata, spec or status`,
      );
    }
    return {
      ...(this.state && { state: this.state.value }),
      ...(this.recordUid && { recordUid: this.recordUid.value }),
      ...(this.lastModified && { lastModified: this.lastModified.value }),
      ...(this.log && { logLength: this.log.bytes }),
    };
  }

  name(depth: number): StringSink | undefined {
    const named = depth === 1 || (depth === 2 && this.section !== undefined);
    if (!named) return undefined;
    this.memberName.clear();
    return this.memberName;
  }

  value(type: JsonType, depth: number, offset: number): StringSink | undefined {
    if (depth === 0) {
      if (type !== 'object') throw new InvalidBodyError(`The log record is ${nameOf(type)}, expected an object`);
      return undefined;
    }
    if (depth === 1) this.beginSection(type, offset);
    if (depth === 2 && this.section !== undefined) return this.beginField(this.section, type, offset);
    return undefined;
  }

  private beginSection(type: JsonType, offset: number): void {
    const name = this.contractName(sections);
    this.members.add(this.memberName);
    this.section = undefined;
    if (name === undefined || !this.isPresent(name, 'object', type, offset)) return;
    this.section = name;
    this.hasSection = true;
  }

  private beginField(section: string, type: JsonType, offset: number): StringSink | undefined {
    const fields = sections[section] ?? {};
    const name = this.contractName(fields);
    const expected = name === undefined ? undefined : fields[name];
    if (name === undefined || expected === undefined) return undefined;
    const path = `${section}.${name}`;
    return this.isPresent(path, expected, type, offset) ? this.sinkOf(path, offset) : undefined;
  }

  /** The name just read, if it is one of the names given. */
  private contractName(names: object): string | undefined {
    const { tooLong, value } = this.memberName;
    return !tooLong && Object.hasOwn(names, value) ? value : undefined;
  }

  /** Null counts as absent: the contract does not say which members are always there. */
  private isPresent(path: string, expected: 'object' | 'string', type: JsonType, offset: number): boolean {
    // Readers of JSON differ in which of two they take, so the archive could not say what the record says.
    if (this.seen.has(path)) throw new InvalidBodyError(`The log record has ${path} twice (at byte ${offset})`);
    this.seen.add(path);
    if (type === 'null') return false;
    if (type === expected) return true;
    throw new InvalidBodyError(
      `The log record's ${path} is ${nameOf(type)}, expected ${nameOf(expected)} (at byte ${offset})`,
    );
  }

  private sinkOf(path: string, offset: number): StringSink | undefined {
    switch (path) {
      case 'spec.log':
        this.log = new TextLength();
        return this.log;
      case 'spec.clusterUid':
        // One code unit more than has to be compared or shown tells that a text goes on.
        return new StringCapture(Math.max(this.clusterUid.length, longestShown) + 1, ({ value }) => {
          if (value !== this.clusterUid) throw foreignRecord(value, this.clusterUid, offset);
        });
      case 'status.state':
        this.state = recorded(path, offset);
        return this.state;
      case 'metadata.uid':
        this.recordUid = recorded(path, offset);
        return this.recordUid;
      case 'metadata.lastModifiedTimestamp':
        this.lastModified = recorded(path, offset);
        return this.lastModified;
      default:
        return undefined;
    }
  }

  private scan(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      const what = error.fault === 'cut' ? 'is cut short' : 'is no acceptable JSON';
      throw new InvalidBodyError(`The log record ${what}: ${error.message}`, { cause: error });
    }
  }
}

/** Takes a value that the run record shows whole; one that is too long fails rather than being recorded in part. */
function recorded(path: string, offset: number): StringCapture {
  return new StringCapture(longestValue, ({ tooLong }) => {
    if (!tooLong) return;
    throw new InvalidBodyError(
      `The log record's ${path} is longer than the ${longestValue} characters that can be recorded (at byte ${offset})`,
    );
  });
}

function foreignRecord(found: string, expected: string, offset: number): InvalidBodyError {
  return new InvalidBodyError(
    (quote) =>
      `The log record belongs to another cluster: spec.clusterUid is ${quote(shown(found))} (at byte ${offset}), ` +
      `expected ${shown(expected)}`,
  );
}

function nameOf(type: JsonType): string {
  if (type === 'object' || type === 'array') return `an ${type}`;
  return type === 'string' || type === 'number' ? `a ${type}` : type;
}

function shown(text: string): string {
  return text.length > longestShown ? `${JSON.stringify(text.slice(0, longestShown))}…` : JSON.stringify(text);
}
