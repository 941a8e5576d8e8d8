import { performance } from 'node:perf_hooks';
import * as zlib from 'node:zlib';
import { logLines } from '../servers/log-lines';
import { readAssignment } from './measure';
import { reportFigures } from './report-figures';

/** One compression at one level, on bodies one after the other, as the collector compresses what is in memory. */
const { compression, level, logBytes } = readAssignment();
const bodies = 80;
const { text } = logLines(bodies * logBytes);
const chunkSize = 32 * 1024;

function compress(content: Buffer): Buffer {
  if (compression === 'gzip') return zlib.gzipSync(content, { level, chunkSize });
  const params = { [zlib.constants.ZSTD_c_compressionLevel]: level };
  return zlib.zstdCompressSync(content, { params, chunkSize, pledgedSrcSize: content.length });
}

let stored = 0;
const startedMs = performance.now();
for (let at = 0; at < bodies; at++) stored += compress(text.subarray(at * logBytes, (at + 1) * logBytes)).length;
const seconds = (performance.now() - startedMs) / 1000;
reportFigures({ mbPerSecond: (bodies * logBytes) / seconds / 1e6, timesSmaller: (bodies * logBytes) / stored });
