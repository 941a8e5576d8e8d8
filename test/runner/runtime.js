const { createRequire, isBuiltin } = require('node:module');
const { sep } = require('node:path');
const { compileFunction } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

const packages = `${sep}node_modules${sep}`;
const compiled = new Map();

/**
 * Loads packages as Node does, once per worker: Jest's own runtime reads, compiles and runs aws-cdk-lib and the SDK again
 * for each test file. Files of this repository run anew for each test file, and are compiled once per worker.
 */
module.exports = class SharingRuntime extends Runtime {
  constructor(...options) {
    super(...options);
    this.executor.compile = (source, filename) => compileOnce(source, this.executor.injectedModuleParameters, filename);
  }

  requireModuleOrMock(from, name) {
    const isOwn = name.startsWith('.') || name.startsWith('/') || isBuiltin(name) || name === '@jest/globals';
    return isOwn && !from.includes(packages) ? super.requireModuleOrMock(from, name) : createRequire(from)(name);
  }

  /** Node's own serves, where nothing stands in for a core module. */
  installGetBuiltinModule() {}
};

function compileOnce(source, parameters, filename) {
  const before = compiled.get(filename);
  if (before?.source === source) return before.run;
  const run = compileFunction(source, parameters, { filename });
  compiled.set(filename, { source, run });
  return run;
}
