const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/**
 * Runs a test file in Node's own context, where Jest's own environment makes a new one for each file. Packages then need
 * loading once per worker (see runtime.js), and `instanceof` means what it means in production. What a file leaves behind
 * in the process is taken back behind it.
 */
module.exports = class OneContextEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  #globals = Object.getOwnPropertyDescriptors(globalThis);
  #env = { ...process.env };
  #exit = process.exit;
  #folder = process.cwd();

  constructor({ projectConfig }) {
    // Jest's test framework adds to the handlers of whoever loaded it before in this context.
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    // Jest reads the time limits of projects, and holds them to none.
    globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = projectConfig.testTimeout;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {
    // As in production: Jest asks for 100 frames of every error, and makes one for every `expect`.
    Error.stackTraceLimit = 10;
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const name of Object.getOwnPropertySymbols(globalThis).filter((name) => Symbol.keyFor(name) === undefined))
      Reflect.deleteProperty(globalThis, name);
    Object.defineProperties(globalThis, this.#globals);
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
    Object.assign(process, { exit: this.#exit, exitCode: undefined });
    process.chdir(this.#folder);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return this.global;
  }
};
