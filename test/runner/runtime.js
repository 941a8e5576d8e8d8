const { createRequire, isBuiltin } = require('node:module');
const { sep } = require('node:path');
const { compileFunction } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

const packages = `${sep}node_modules${sep}`;
const compiled = new Map();
let functionBundle;

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
    // It remembers the bundles of both functions, which take seconds, and nothing else.
    if (name.endsWith('/function-bundle')) {
      functionBundle ??= super.requireModuleOrMock(from, name);
      return functionBundle;
    }
    const isOwn = name.startsWith('.') || name.startsWith('/') || isBuiltin(name) || name === '@jest/globals';
    return isOwn && !from.includes(packages) ? super.requireModuleOrMock(from, name) : createRequire(from)(name);
  }

  /** Jest's test framework, which is loaded for each test file. */
  requireInternalModule(from, name) {
    return name === 'node:async_hooks' ? { AsyncLocalStorage: OneAtATime } : super.requireInternalModule(from, name);
  }

  /** Node's own serves, where nothing stands in for a core module. */
  installGetBuiltinModule() {}
};

/**
 * Keeps the test that runs, as AsyncLocalStorage would, for tests that run one after the other. Before Node 24 each of
 * those costs every promise of the process, and Jest makes another one for each test file.
 */
class OneAtATime {
  #store;

  getStore() {
    return this.#store;
  }

  async run(store, action) {
    const before = this.#store;
    this.#store = store;
    try {
      return await action();
    } finally {
      this.#store = before;
    }
  }
}

function compileOnce(source, parameters, filename) {
  const before = compiled.get(filename);
  if (before?.source === source) return before.run;
  const run = compileFunction(source, parameters, { filename });
  compiled.set(filename, { source, run });
  return run;
}
