import { App } from 'aws-cdk-lib';
import { createApp } from './collector-app';
import { ConfigError, loadConfig } from './config/config';

/** Entry of the CDK command line. The context key `config`, from `-c config=FILE` or cdk.json, names the configuration. */
try {
  const file: unknown = new App({ autoSynth: false }).node.tryGetContext('config');
  createApp({ config: loadConfig(typeof file === 'string' ? file : 'collector.json') }).app.synth();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
