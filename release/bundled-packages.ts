import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { projectRoot } from '../infra/function-bundle';

/** A package of others whose code was bundled. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX identifier. */
  readonly license: string;
  /** The text of its licence; undefined if it brings none. */
  readonly text: string | undefined;
}

/** The packages whose code is in some bundles, each once, by name. */
export function bundledPackages(metafiles: readonly Metafile[]): BundledPackage[] {
  const folders = new Set<string>();
  for (const { outputs } of metafiles)
    for (const { inputs } of Object.values(outputs))
      for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
        const folder = /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0];
        if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
      }
  const packages = new Map([...folders].map(readPackage).map((one) => [`${one.name} ${one.version}`, one]));
  return [...packages.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

function readPackage(folder: string): BundledPackage {
  const path = join(projectRoot, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  if (typeof license !== 'string')
    throw new Error(`Reading the licence of ${name} failed: its package.json names none`);
  const file = readdirSync(path).find((one) => /^(licen[cs]e|copying)/i.test(one));
  const text = file !== undefined && existsSync(join(path, file)) ? readFileSync(join(path, file), 'utf8') : undefined;
  return { name, version, license, text };
}

/** All licences in one text, each once, with the packages that it is the licence of. */
export function licenceText(packages: readonly BundledPackage[]): string {
  const byText = new Map<string, BundledPackage[]>();
  for (const one of packages) {
    const text = one.text?.trim() ?? `It brings no text of its licence, ${one.license}.`;
    byText.set(text, [...(byText.get(text) ?? []), one]);
  }
  const parts = [...byText].map(
    ([text, list]) =>
      `${list.map(({ name, version, license }) => `${name} ${version} (${license})`).join('\n')}\n\n${text}\n`,
  );
  return `The files in this folder hold code of these packages.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
