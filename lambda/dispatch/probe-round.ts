/** Probes that are made together, and judged once all of them are over. */
export class ProbeRound {
  /** When the first may start, in milliseconds. */
  readonly startMs: number;
  /** Probes that are still to be made. */
  left: number;
  made = 0;
  underWay = 0;

  constructor(probes: number, startMs: number) {
    this.left = probes;
    this.startMs = startMs;
  }

  get isOver(): boolean {
    return this.left === 0 && this.underWay === 0;
  }

  probeStarted(): void {
    this.left -= 1;
    this.made += 1;
    this.underWay += 1;
  }
}
