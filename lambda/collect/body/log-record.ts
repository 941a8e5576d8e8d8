import { type JsonError, jsonErrorOf } from '../../../archive/format/json/json-chunk';
import { JsonScanner, type JsonType } from '../../../archive/format/json/json-scanner';
import { StringCapture, type StringSink } from '../../../archive/format/json/json-string-scanner';
import { LogDigest } from '../../../archive/format/log-digest';
import type { BodyFacts } from '../../../archive/format/resources';
import { type BodyCheck, InvalidBodyError } from './body-check';
import { ContentBeginning, htmlPage } from './content-beginning';
import { Continuation } from './continuation';
import { doubts } from './doubts';
import { ErrorMembers, weighEvidence } from './error-members';
import { weighMediaType } from './media-type';
import { Utf8Check } from './utf8-check';

/**
 * Service contract, section 2.1: the members it names, with their types. Of date-times only the type string is checked:
 * "ISO 8601" has many forms, and refusing a record because of one would lose a log.
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

/** The values that the run record has too, by their paths. */
const recordedFacts = {
  'status.state': 'state',
  'metadata.uid': 'recordUid',
  'metadata.lastModifiedTimestamp': 'lastModified',
} as const satisfies Record<string, keyof BodyFacts>;

/** Longest value that is recorded, in UTF-16 code units: a run record holds one of each per cluster. */
const longestValue = 4096;

/** Longest part of another cluster's uid that an error message shows, in UTF-16 code units. */
const longestShown = 80;

/**
 * Checks a log record (service contract, section 2.1) and hands it on exactly as received.
 *
 * The body must be one JSON object with at least one of `metadata`, `spec` and `status`. Members that the contract names
 * must have its types and occur once, `spec.clusterUid` must be the cluster asked for, and nesting ends at 1,000. A member
 * may be absent, null or unknown to the contract. Whether the object is a log-fetcher record at all is weighed by
 * {@link weighEvidence}. Bytes that are not UTF-8 are accepted in strings, with a doubt.
 */
export class LogRecordCheck implements BodyCheck {
  readonly isAsReceived = true;
  readonly #clusterUid: string;
  readonly #mediaType: string | undefined;
  readonly #scanner = new JsonScanner(this.#beginValue.bind(this));
  readonly #top = new ErrorMembers();
  /** Members of the status that are not the record's own. */
  readonly #status = new ErrorMembers();
  readonly #seen = new Set<string>();
  /** The section whose members are being read. */
  #section: string | undefined;
  readonly #continuation = new Continuation(/^(?:metadata|spec|status)$/);
  /** What is not JSON from its first byte on may be a page: its beginning tells. */
  readonly #beginning = new ContentBeginning();
  #hasRoot = false;
  #error: JsonError | undefined;
  #hasSection = false;
  #namesItsCluster = false;
  #bytes = 0;
  readonly #recorded = new Map<keyof typeof recordedFacts, StringCapture>();
  #log: LogDigest | undefined;
  readonly #utf8 = new Utf8Check();

  /**
   * @param clusterUid the cluster that was asked for
   * @param mediaType the answer's Content-Type with its parameters; undefined if it has none
   */
  constructor(clusterUid: string, mediaType?: string) {
    this.#clusterUid = clusterUid;
    this.#mediaType = mediaType;
  }

  get namesItsCluster(): boolean {
    return this.#namesItsCluster;
  }

  write(chunk: Buffer): Buffer {
    this.#error ??= jsonErrorOf(() => this.#scanner.write(chunk));
    if (!this.#hasRoot) this.#beginning.write(chunk);
    this.#judge(false);
    this.#log?.hash(chunk, this.#bytes);
    this.#utf8.write(chunk);
    this.#bytes += chunk.length;
    return chunk;
  }

  end(): BodyFacts {
    if (this.#bytes === 0) throw new InvalidBodyError('The log record is empty');
    this.#error ??= jsonErrorOf(() => this.#scanner.end());
    this.#judge(true);
    if (!this.#hasSection) {
      throw new InvalidBodyError(`The body is ${this.#top.description}, expected metadata, spec or status`);
    }
    const { refusal, doubt: weighed } = weighEvidence(this.#seen, this.#top, this.#status);
    if (refusal !== undefined) throw new InvalidBodyError(`The body is not a log record: ${refusal}`);
    const { refusal: otherType, doubt: ofType } = weighMediaType(this.#mediaType);
    if (otherType !== undefined) throw new InvalidBodyError(`The body is not a log record: it is ${otherType}`);
    const notUtf8 = this.#utf8.isUtf8 ? undefined : doubts.notUtf8;
    const found = [weighed, ofType, notUtf8, this.#continuation.doubt].filter((one) => one !== undefined);
    const doubt = found.join('; ');
    return {
      ...Object.fromEntries([...this.#recorded].map(([path, capture]) => [recordedFacts[path], capture.shown])),
      ...this.#log?.result(),
      ...(doubt !== '' && { doubt }),
    };
  }

  #beginValue(type: JsonType, depth: number, offset: number, name = ''): StringSink | undefined {
    this.#hasRoot = true;
    if (depth === 0 && type !== 'object') {
      throw new InvalidBodyError(`The log record is ${nameOf(type)}, expected an object`);
    }
    if (depth === 1) return this.#beginSection(name, type, offset);
    if (depth === 2 && this.#section !== undefined) return this.#beginField(this.#section, name, type, offset);
    return undefined;
  }

  #beginSection(name: string, type: JsonType, offset: number): StringSink | undefined {
    this.#top.add(name, type);
    this.#section = undefined;
    if (!Object.hasOwn(sections, name)) return this.#continuation.member(undefined, name, type);
    if (!this.#isPresent(name, 'object', type, offset)) return undefined;
    this.#section = name;
    this.#hasSection = true;
    return undefined;
  }

  #beginField(section: string, name: string, type: JsonType, offset: number): StringSink | undefined {
    const fields = sections[section] ?? {};
    const expected = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (expected === undefined) {
      if (section === 'status') this.#status.add(name, type);
      return this.#continuation.member(section, name, type);
    }
    const path = `${section}.${name}`;
    return this.#isPresent(path, expected, type, offset) ? this.#sinkOf(path, offset) : undefined;
  }

  /** Null counts as absent: the contract does not say which members are always there. */
  #isPresent(path: string, expected: 'object' | 'string', type: JsonType, offset: number): boolean {
    // Of two members with one name, some readers of JSON take the first and others the last.
    if (this.#seen.has(path)) throw new InvalidBodyError(`The log record has ${path} twice (at byte ${offset})`);
    this.#seen.add(path);
    if (type === 'null') return false;
    if (type === expected) return true;
    throw new InvalidBodyError(
      `The log record's ${path} is ${nameOf(type)}, expected ${nameOf(expected)} (at byte ${offset})`,
    );
  }

  #sinkOf(path: string, offset: number): StringSink | undefined {
    if (path === 'spec.log') {
      this.#log = new LogDigest(offset);
      return this.#log;
    }
    if (path === 'spec.clusterUid') {
      // One code unit more than is compared or shown tells that the text goes on.
      return new StringCapture(Math.max(this.#clusterUid.length, longestShown) + 1, ({ value }) => {
        this.#namesItsCluster = value === this.#clusterUid;
        if (this.#namesItsCluster) return;
        throw new InvalidBodyError(
          `The log record belongs to another cluster: spec.clusterUid is ${shown(value)} ` +
            `(at byte ${offset}), expected ${shown(this.#clusterUid)}`,
          { namesAnother: true },
        );
      });
    }
    if (!isRecorded(path)) return undefined;
    const capture = new StringCapture(longestValue);
    this.#recorded.set(path, capture);
    return capture;
  }

  /** Turns a fault of the JSON into what it means for the record. @param isEnd whether nothing more comes */
  #judge(isEnd: boolean): void {
    const error = this.#error;
    if (error === undefined) return;
    if (!this.#hasRoot && this.#beginning.mayBeAPage) {
      if (!isEnd && !this.#beginning.isWhole) return;
      const { refusal, doubt } = this.#beginning.weigh(this.#mediaType);
      if (refusal !== undefined || doubt !== undefined)
        throw new InvalidBodyError(`The log record is ${htmlPage}`, { cause: error });
    }
    const what = error.fault === 'cut' ? 'is cut short' : 'is not acceptable JSON';
    throw new InvalidBodyError(`The log record ${what}: ${error.message}`, { cause: error });
  }
}

function isRecorded(path: string): path is keyof typeof recordedFacts {
  return Object.hasOwn(recordedFacts, path);
}

function nameOf(type: JsonType): string {
  if (type === 'object' || type === 'array') return `an ${type}`;
  return type === 'string' || type === 'number' ? `a ${type}` : type;
}

function shown(text: string): string {
  return text.length > longestShown ? `${JSON.stringify(text.slice(0, longestShown))}…` : JSON.stringify(text);
}
