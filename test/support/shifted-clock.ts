/** A preload for Node, as a URL: shifts the clock of a process. */
export const shiftedClock = (offsetMs: number): string =>
  `data:text/javascript,${encodeURIComponent(`
  const Real = Date;
  globalThis.Date = class Date extends Real {
    constructor(...given) {
      super(...(given.length > 0 ? given : [Real.now() + ${offsetMs}]));
    }
    static now() {
      return Real.now() + ${offsetMs};
    }
  };`)}`;
