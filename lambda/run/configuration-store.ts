import { gzipSync } from 'node:zlib';
import { configurationKey } from '../archive/archive-layout';
import type { ObjectSink } from './archive-answer';

/** Stores the function's configuration in the archive, so that the archive itself says what was due. */
export class ConfigurationStore {
  readonly #archive: ObjectSink;
  readonly #sha256: string;
  readonly #read: () => Promise<Uint8Array>;
  #isStored = false;

  /**
   * @param sha256 of what `read` gives, lower-case hex: run records name the configuration by it
   * @param read reads the collection file
   */
  constructor(archive: ObjectSink, sha256: string, read: () => Promise<Uint8Array>) {
    this.#archive = archive;
    this.#sha256 = sha256;
    this.#read = read;
  }

  /**
   * Stores it unless it is there already; asks the archive once per execution environment.
   * @throws ArchiveError; the signal's reason when it aborts
   */
  async store(signal: AbortSignal): Promise<void> {
    if (this.#isStored) return;
    const content = gzipSync(await this.#read());
    const headers = { contentType: 'application/json', contentEncoding: 'gzip' };
    await this.#archive.put({ key: configurationKey(this.#sha256), content, ...headers }, signal);
    this.#isStored = true;
  }
}
