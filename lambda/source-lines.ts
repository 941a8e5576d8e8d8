import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/**
 * Lets stack traces name lines of the sources rather than of the bundle. Node's `--enable-source-maps` would read the map
 * at every cold start, a fifth of its time (measured); this reads it when someone first looks at a trace. Function names
 * stay the bundle's, and what fails while imports are loaded comes too early.
 * @param bundleFile the running file, with its map beside it
 */
export function nameSourceLines(bundleFile: string): void {
  let map: SourceMap | undefined;
  Error.prepareStackTrace = (error, frames) => {
    const loaded = map ?? readMap(`${bundleFile}.map`);
    map = loaded;
    const lines = frames.map((frame) => `\n    at ${sourceLine(frame, bundleFile, loaded)}`);
    return headOf(error) + lines.join('');
  };
}

/** An empty one if there is none: a trace without names is better than an error about an error. */
function readMap(file: string): SourceMap {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return new SourceMap({
      file,
      version: 3,
      sources: [],
      sourcesContent: [],
      names: [],
      mappings: '',
      sourceRoot: '',
    });
  }
}

function sourceLine(frame: NodeJS.CallSite, bundleFile: string, map: SourceMap): string {
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
  if (frame.getFileName() !== bundleFile || line === null || column === null) return String(frame);
  const entry = map.findEntry(line - 1, column - 1);
  // Generated code has no source; the types do not say that the member may be there all the same.
  if (!('originalSource' in entry) || typeof entry.originalSource !== 'string') return String(frame);
  // The map's paths begin where the bundle was built.
  const source = entry.originalSource.replace(/^.*\/(?=(lambda|node_modules)\/)/, '');
  const place = `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  return String(frame).replace(`${bundleFile}:${line}:${column}`, () => place);
}

/** As V8 does it; an error can be made to throw when it is asked for its name. */
function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}
