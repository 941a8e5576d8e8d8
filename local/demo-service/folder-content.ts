import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Resource, resourceNames } from '../../lambda/resources';

/** The file names of each resource. If a cluster has several of them, the first one is served. */
const fileNames: Readonly<Record<Resource, readonly string[]>> = {
  log: ['log.txt'],
  manifest: ['manifest.yaml', 'manifest.yml', 'manifest.json', 'manifest.txt'],
};

/**
 * Serves the log and the manifest of each `<dir>/<uid>/` byte for byte; the folder's name is the cluster's uid. Folders
 * whose name begins with a dot, such as `.git`, and symbolic links are not clusters. Its methods reject with the file
 * system's own errors.
 */
export function folderContent(dir: string) {
  const clusterUids = async () => {
    const entries = await readdir(dir, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name)
      .sort();
  };

  // Only what the folder lists is opened: that keeps `..` and separators out, and keeps a file system that ignores case
  // from answering for another cluster.
  const pathOf = async (uid: string, resource: Resource) =>
    (await clusterUids()).includes(uid) ? findFirst(join(dir, uid), fileNames[resource]) : undefined;

  return {
    /** The names of the folders, in order. */
    clusterUids,
    log: async (uid: string) => {
      const path = await pathOf(uid, 'log');
      if (path === undefined) return undefined;
      return { log: await readFile(path), state: 'Available', lastModified: (await stat(path)).mtime };
    },
    manifest: async (uid: string) => {
      const path = await pathOf(uid, 'manifest');
      return path === undefined ? undefined : readFile(path);
    },
    /** What the folder lacks: `b has no log (log.txt)`. */
    missing: async () => {
      const found: string[] = [];
      for (const uid of await clusterUids())
        for (const resource of resourceNames)
          if ((await findFirst(join(dir, uid), fileNames[resource])) === undefined)
            found.push(`${uid} has no ${resource} (${fileNames[resource].join(', ')})`);
      return found;
    },
  };
}

/** Path of the first of these files that is there. */
async function findFirst(folder: string, names: readonly string[]): Promise<string | undefined> {
  const entries = await readdir(folder);
  const name = names.find((one) => entries.includes(one));
  return name && join(folder, name);
}
