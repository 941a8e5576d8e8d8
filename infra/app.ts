import { App } from 'aws-cdk-lib';
import { ContextError, createApp, readContext } from './collector-app';
import { ConfigError, loadConfig, refuseExample, refusePartition } from './config/config';

/** Entry of the CDK command line. The context key `config`, from `-c config=FILE` or cdk.json, names the configuration. */
try {
  const { config: file, deploys } = readContext(new App({ autoSynth: false }).node.getAllContext());
  const config = loadConfig(file);
  if (deploys) refuseExample(config, file);
  refusePartition(config, process.env.CDK_DEFAULT_REGION, file);
  createApp({ config }).app.synth();
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof ContextError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
