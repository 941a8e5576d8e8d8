#!/usr/bin/env node
import { main } from './main';
import { endWithProcess, processTerminal } from './terminal/terminal';

// The SDK's switch for the warning that it writes on Node 20: the versions that the lock file names go on working there.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

endWithProcess();

void main(process.argv.slice(2), processTerminal()).then((code) => {
  process.exitCode = code;
});
