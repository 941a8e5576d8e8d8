import type { FunctionDefinition } from './function-definition';

/** Temporary credentials of the function's role. */
export interface RoleCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/** One execution environment of a function. */
export interface EnvironmentPlace {
  /** Which it is, from 1. */
  readonly number: number;
  /** Where the function's code lies. */
  readonly codeFolder: string;
  /** Stands for Lambda's /tmp, which belongs to one execution environment. */
  readonly temporaryFolder: string;
  /** Major version of Node that runs it. */
  readonly nodeMajor: string;
}

/** Where the function finds the services that it calls, and with which credentials. */
export interface CallerSurroundings {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: RoleCredentials;
}

/** All environment variables of a function's process: those of the template and those of Lambda, none of this process. */
export function functionVariables(
  definition: FunctionDefinition,
  { endpoint, region, credentials }: CallerSurroundings,
  { number, codeFolder, temporaryFolder, nodeMajor }: EnvironmentPlace,
): Record<string, string> {
  return {
    ...definition.environment,
    _HANDLER: definition.handler,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_DEFAULT_REGION: region,
    AWS_ENDPOINT_URL: endpoint,
    AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${nodeMajor}.x`,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMiB),
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: definition.logGroup,
    AWS_LAMBDA_LOG_STREAM_NAME: `local/[$LATEST]${number}`,
    AWS_REGION: region,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
    LAMBDA_TASK_ROOT: codeFolder,
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TMPDIR: temporaryFolder,
    TZ: ':UTC',
  };
}
