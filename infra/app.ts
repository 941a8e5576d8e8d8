import { App } from 'aws-cdk-lib';
import { ContextError, createApp, readContext } from './collector-app';
import { type CollectorConfig, ConfigError, loadConfig, refuseExample, refusePartition } from './config/config';
import { refuseShorterRetention } from './deployed-retention';

/** Entry of the CDK command line. The context key `config`, from `-c config=FILE` or cdk.json, names the configuration. */
async function main(): Promise<void> {
  const context = readContext(new App({ autoSynth: false }).node.getAllContext());
  const config = loadConfig(context.config);
  const region = process.env.CDK_DEFAULT_REGION;
  refusePartition(config, region, context.config);
  if (context.deploys) {
    refuseExample(config, context.config);
    if (!context.shortensRetention) await askDeployed(config, context.config, config.deployTo?.region ?? region);
  }
  createApp({ config }).app.synth();
}

async function askDeployed(config: CollectorConfig, file: string, region: string | undefined): Promise<void> {
  const { CloudFormationClient } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ region, maxAttempts: 2 });
  await refuseShorterRetention(client, config, file, (message) => process.stderr.write(`${message}\n`));
}

main().catch((error: unknown) => {
  if (!(error instanceof ConfigError || error instanceof ContextError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
