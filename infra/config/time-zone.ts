/** Whether a text is the name of an IANA time zone, aliases such as Asia/Kolkata included, in its exact spelling. */
export function isTimeZone(text: string): boolean {
  if (text === 'UTC' || text === 'GMT') return true;
  // Intl also takes any case, abbreviations and, in newer versions, offsets; EventBridge Scheduler does not.
  if (!/^[A-Z][A-Za-z]+\/[A-Z][A-Za-z0-9+_/-]*$/.test(text)) return false;
  const listed = Intl.supportedValuesOf('timeZone').find((zone) => zone.toLowerCase() === text.toLowerCase());
  if (listed !== undefined) return listed === text;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
