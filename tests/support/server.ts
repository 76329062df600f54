/** A server of the test's own, to be broken at will. Its address stays the same throughout. */
export interface TestServer {
  readonly url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Starts it again, after ending it as a crash would if it still runs. Resolves when it answers. */
  restart(): Promise<void>;
  /** Keeps its connections open and answers nothing. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Whatever was done to it: it runs and answers afterwards. For `afterEach`. */
  recover(): Promise<void>;
  /** Ends it and removes what it wrote. */
  close(): Promise<void>;
}
