import type { BundledPackage } from './bundled-packages';

/** The members of a CycloneDX document that are changed. */
export interface Bill {
  readonly metadata: { readonly component: object };
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly 'bom-ref': string;
    readonly properties?: readonly { readonly name: string; readonly value: string }[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/**
 * What the package consists of and what it installs, from what `npm sbom` says of the checkout: npm knows what was installed to
 * build it, and not what of that was bundled.
 * @throws Error if npm does not know a package that was bundled
 */
export function billOfMaterials(
  all: Bill,
  bundled: readonly BundledPackage[],
  { name, dependencies }: { readonly name: string; readonly dependencies: object },
): Bill {
  const isIn = (one: Bill['components'][number]) =>
    one.name in dependencies || bundled.some(({ name, version }) => one.name === name && one.version === version);
  const components = all.components.filter(isIn).map((one) => ({
    ...one,
    properties: (one.properties ?? []).filter((property) => property.name !== 'cdx:npm:package:development'),
  }));
  for (const one of bundled)
    if (!components.some(({ name, version }) => name === one.name && version === one.version))
      throw new Error(
        `Listing ${one.name} ${one.version} failed: it was bundled, and package-lock.json does not have it`,
      );
  const own = `${name}@`;
  const kept = new Set(components.map((one) => one['bom-ref']));
  return {
    ...all,
    metadata: { ...all.metadata, component: { ...all.metadata.component, name } },
    components,
    dependencies: all.dependencies.flatMap(({ ref, dependsOn = [] }) =>
      kept.has(ref) || ref.startsWith(own) ? { ref, dependsOn: dependsOn.filter((to) => kept.has(to)) } : [],
    ),
  };
}
