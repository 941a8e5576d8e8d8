/** What only works in a clone, and what whoever has the package types or reads instead. */
export const words: readonly (readonly [inClone: string | RegExp, inPackage: string])[] = [
  [/npm run (--silent )?collector --/g, 'npx cluster-log-collector'],
  [/npm run (deploy|synth)( --)?/g, 'npx cdk $1'],
  // Only the app of this repository asks before it deploys.
  [', and is refused without -c shortenRetention=true', ''],
  ['. The local deployment is not in AWS: npm start runs it', ''],
  ['npm start makes one, --archive names another', '--archive names another'],
  [', or in COLLECTOR_API_KEY for npm start', ''],
  [/location === defaultArchive \? `npm start -- --run [^`]*` : undefined/g, 'undefined'],
  ["'another npm start'", "'the next run'"],
];

/** A source text as it goes into the package. */
export function wordsOfPackage(text: string): string {
  return words.reduce((changed, [inClone, inPackage]) => changed.replaceAll(inClone, inPackage), text);
}
