import { App } from 'aws-cdk-lib';
import { ContextError, createApp, readContext } from './collector-app';
import { ConfigError, loadConfig, refuseExample, refusePartition } from './config/config';
import { refuseShorterRetention } from './retention-guard';

/** Entry of the CDK command line. The context key `config`, from `-c config=FILE` or cdk.json, names the configuration. */
async function main(): Promise<void> {
  const context = readContext(new App({ autoSynth: false }).node.getAllContext());
  const config = loadConfig(context.config);
  const region = process.env.CDK_DEFAULT_REGION;
  refusePartition(config, region, context.config);
  if (context.deploys) {
    refuseExample(config, context.config);
    const target = { account: process.env.CDK_DEFAULT_ACCOUNT, region, qualifier: context.qualifier };
    if (!context.shortensRetention) await refuseShorterRetention(config, target, context.config);
  }
  createApp({ config }).app.synth();
}

main().catch((error: unknown) => {
  if (!(error instanceof ConfigError || error instanceof ContextError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
