import { createHash } from 'node:crypto';
import { parseSealKey, type SealName, sealKey, sealsPrefix } from '../../archive/archive-layout';
import type { ArchiveReader } from '../archive-reader';
import { headersProblem } from '../content-headers';
import { type Find, noKeyOfAnArchive } from '../finding';
import { DamagedObjectError } from '../open-content';
import { readWhole } from '../read-whole';
import { largestSealBytes, largestSignatureBytes, type Seal, sealSchema } from './seal';

/** Which files there are of one number. */
export interface ListedSeal {
  readonly number: number;
  hasSeal: boolean;
  hasSignature: boolean;
}

/** A file under `seals/`: its bytes, if it could be read whole, and what is wrong with it. */
interface StoredFile {
  readonly bytes: Buffer | undefined;
  readonly problem: string | undefined;
}

/** A seal's file and that of its signature, as far as they are there. */
export interface SealFiles {
  readonly number: number;
  /** Undefined: its file is not there, or could not be read whole. */
  readonly sha256: string | undefined;
  readonly seal: Seal | undefined;
  /** What is wrong with the seal's file. */
  readonly problem: string | undefined;
  /** Undefined: there is none. */
  readonly signature: StoredFile | undefined;
}

/** Lists all seals by their numbers. @throws ArchiveReadError */
export async function listSeals(reader: ArchiveReader, find: Find): Promise<ListedSeal[]> {
  const listed = new Map<number, ListedSeal>();
  for await (const { key } of reader.list(sealsPrefix)) {
    const name = parseSealKey(key);
    if (name === undefined) {
      find('unrecorded', key, noKeyOfAnArchive);
      continue;
    }
    const one = listed.get(name.number) ?? { number: name.number, hasSeal: false, hasSignature: false };
    if (name.part === 'seal') one.hasSeal = true;
    else one.hasSignature = true;
    listed.set(name.number, one);
  }
  return [...listed.values()].sort((a, b) => a.number - b.number);
}

/** Reads one seal; undefined if it is gone or not valid. @throws ArchiveReadError */
export async function readSeal(reader: ArchiveReader, number: number): Promise<Seal | undefined> {
  return (await readFiles(reader, { number, hasSeal: true, hasSignature: false })).seal;
}

/** @throws ArchiveReadError */
export async function readFiles(
  reader: ArchiveReader,
  { number, hasSeal, hasSignature }: ListedSeal,
): Promise<SealFiles> {
  const file = hasSeal ? await readFile(reader, { number, part: 'seal' }, largestSealBytes) : undefined;
  const signature = hasSignature
    ? await readFile(reader, { number, part: 'signature' }, largestSignatureBytes)
    : undefined;
  if (file === undefined) return { number, sha256: undefined, seal: undefined, problem: 'it is not there', signature };
  const { bytes } = file;
  const parsed = bytes && parseSeal(bytes.toString('utf8'));
  const [seal, reason] = typeof parsed === 'string' ? [undefined, parsed] : [parsed, undefined];
  const sha256 = bytes && createHash('sha256').update(bytes).digest('hex');
  return { number, sha256, seal, problem: file.problem ?? reason, signature };
}

async function readFile(reader: ArchiveReader, name: SealName, mostBytes: number): Promise<StoredFile | undefined> {
  try {
    const found = await readWhole(reader, sealKey(name), mostBytes);
    const headers = { contentType: 'application/json', contentEncoding: undefined };
    return found && { bytes: found.bytes, problem: headersProblem(found, headers) };
  } catch (error) {
    if (error instanceof DamagedObjectError) return { bytes: undefined, problem: error.message };
    throw error;
  }
}

/** The seal, or why it is none. */
export function parseSeal(text: string): Seal | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return 'it is not JSON';
    throw error;
  }
  const { success, data, error } = sealSchema.safeParse(json);
  if (success) return data;
  const [issue] = error.issues;
  return `it is not a valid seal: ${issue?.path.map(String).join('.') || 'it'}: ${issue?.message}`;
}
