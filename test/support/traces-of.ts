/** Every form in which a secret may turn up in a text: as it is, quoted, escaped, encoded. */
export function tracesOf(secret: string): string[] {
  const quoted = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret);
  const everyByte = Buffer.from(secret).toString('hex');
  return [
    ...new Set([
      secret,
      quoted,
      JSON.stringify(quoted).slice(1, -1),
      percent,
      percent.toLowerCase(),
      everyByte,
      everyByte.toUpperCase(),
      everyByte.replace(/../g, '%$&'),
      secret.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
      // The middle of a longer base64 text depends on where in its three bytes the secret begins.
      ...[0, 1, 2].flatMap((shift) => base64At(secret, shift)),
      // Half of a secret is still too much.
      secret.slice(0, Math.ceil(secret.length / 2)),
      secret.slice(Math.floor(secret.length / 2)),
    ]),
  ];
}

function base64At(secret: string, shift: number): string[] {
  const text = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)]).toString('base64');
  // What its neighbours share with it is cut off at both ends.
  const own = text
    .slice(shift === 0 ? 0 : 4)
    .replace(/=*$/, '')
    .slice(0, -2);
  return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
}
