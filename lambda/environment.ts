/** The function was deployed without something that its stack always provides. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** @throws SettingsError naming every variable that is not set */
export function readVariables<Name extends string>(
  names: readonly Name[],
  environment: NodeJS.ProcessEnv,
): Record<Name, string> {
  const missing = names.filter((name) => !environment[name]);
  if (missing.length > 0)
    throw new SettingsError(`Reading the environment failed: ${missing.join(', ')} not set; deploy the stack again`);
  return Object.fromEntries(names.map((name) => [name, environment[name]])) as Record<Name, string>;
}
