/** Environment variable with the real service's API key. An option would stay in the shell's history. */
export const apiKeyVariable = 'COLLECTOR_API_KEY';
