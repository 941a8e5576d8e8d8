/** Its version for CommonJS has no types of its own. */
declare module 'wrap-ansi' {
  export default function wrapAnsi(text: string, columns: number, options: { readonly hard: boolean }): string;
}
