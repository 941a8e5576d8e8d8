/** What loading any code costs. */
export async function handler(): Promise<void> {}
