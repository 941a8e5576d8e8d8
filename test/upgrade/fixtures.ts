import { spawnSync } from 'node:child_process';
import { createECDH, createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { keysFolder } from '../../archive/format/folder-layout';
import { sha256Of } from '../../archive/format/seal-file';
import { auditPlanOf } from '../../infra/audit';
import { createApp } from '../../infra/collector-app';
import { loadConfig } from '../../infra/config/config';
import { configurationOf } from '../../infra/configuration-of';
import { runCollector } from '../cli/run-collector';
import { runStart } from '../cli/run-start';
import type { TemplateJson } from '../infra/example-stack';
import { newFolder } from '../support/new-folder';

/** What is kept of 1.0. */
export const kept = join(__dirname, '1.0');

/** The configurations: the smallest one, one with a list from outside and an audit, and one with every other member. */
export const configurations = ['small', 'list', 'everything'] as const;
export type Configured = (typeof configurations)[number];

/** The file of a configuration. */
export const configurationFile = (name: Configured) => join(kept, `${name}.json`);

/** The file of its template, as 1.0 synthesised it. */
export const templateFile = (name: Configured) => join(kept, `${name}.template.json.gz`);

export const archiveFile = join(kept, 'archive.tar.gz');

/** The public key of the archive's seals, as its owner keeps it. */
export const publicKeyFile = join(kept, 'seals-public-key.pem');

/** What 1.0 made of the configurations, and what its commands said of the archive. */
export interface Expected {
  readonly plans: Readonly<Record<Configured, object>>;
  /** The time that the commands were told. */
  readonly saidAt: string;
  readonly said: Readonly<Record<string, Said>>;
}

export const expectedFile = join(kept, 'expected.json');

/** What the functions of a configuration are deployed with, by this version. */
export function planOf(name: Configured): object {
  const config = loadConfig(configurationFile(name));
  const audit = config.audit && auditPlanOf(config, config.audit);
  return JSON.parse(JSON.stringify({ collector: configurationOf(config), audit }));
}

/** The template of a configuration, by this version. Nothing is bundled. */
export function synthesise(name: Configured): TemplateJson {
  const config = loadConfig(configurationFile(name));
  const { app } = createApp({ config, validate: false, context: { 'aws:cdk:bundling-stacks': [] } });
  return app.synth().getStackByName(config.name).template;
}

/** The template of a configuration, by 1.0. */
export function keptTemplate(name: Configured): TemplateJson {
  return JSON.parse(gunzipSync(readFileSync(templateFile(name))).toString());
}

/** A new folder with the archive of 1.0, and with the key that signs its seals. */
export function unpackArchive(): string {
  const folder = newFolder();
  const { status } = spawnSync('tar', ['-xzf', archiveFile, '-C', folder]);
  if (status !== 0) throw new Error(`Unpacking ${archiveFile} failed: tar ended with ${status}`);
  keepSigningKey(folder);
  return folder;
}

/** Puts the key that signs the seals where the local deployment looks for that of its stack. */
export function keepSigningKey(folder: string): void {
  mkdirSync(join(folder, keysFolder), { recursive: true });
  const pem = signingKey().export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(join(folder, keysFolder, 'fleet-AuditSigningKey58F79527.pem'), pem);
}

/** Made of a text, so that the repository holds no private key. */
export function signingKey(): KeyObject {
  const curve = createECDH('prime256v1');
  const d = createHash('sha256').update('the key that signs the seals of 1.0').digest();
  curve.setPrivateKey(d);
  const text = (part: Buffer) => part.toString('base64url');
  const [x, y] = [curve.getPublicKey().subarray(1, 33), curve.getPublicKey().subarray(33)].map(text);
  return createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', d: text(d), x, y } });
}

/** A run and an audit in an archive, by the stack of this version and of the configuration `list`, deployed locally. */
export async function runAndAudit(folder: string, fleet: readonly unknown[], ...more: string[]) {
  const list = join(newFolder(), 'fleet.json');
  writeFileSync(list, JSON.stringify(fleet));
  const config = ['--config', configurationFile('list'), '--cluster-list', list];
  return runStart([...config, '--folder', folder, '--audit', ...more]);
}

const commands: Readonly<Record<string, readonly string[]>> = {
  verify: ['--json', '--public-key', publicKeyFile],
  runs: ['--json'],
  list: ['--json'],
  history: ['--all', '--json'],
  diff: ['Ölfeld/3', '--json'],
  log: ['alpha'],
  show: ['beta', '--resource', 'manifest'],
};

/** What a command ended with, and what it printed for programs: JSON, or the SHA-256 of the content that it shows. */
export interface Said {
  readonly code: number;
  readonly out: unknown;
}

/** What the commands of this version say of an archive at a time, without its folder and what they say for people, which may change. */
export async function saidOf(folder: string, now: Date): Promise<Record<string, Said>> {
  const said: Record<string, Said> = {};
  const withoutWords = (member: string, value: unknown) =>
    ['notSeen', 'problem'].includes(member) || value === folder ? undefined : value;
  for (const [command, args] of Object.entries(commands)) {
    const { code, out, err } = await runCollector([command, ...args, '--archive', folder], { now });
    if (out === '') throw new Error(`${command} printed nothing: ${err}`);
    said[command] = { code, out: args.includes('--json') ? JSON.parse(out, withoutWords) : sha256Of(Buffer.from(out)) };
  }
  return said;
}
