/** A server of the test's own, which the test may break. Its address never changes. */
export interface TestServer {
  readonly url: string;
  /** Ends it at once, like a crash. */
  kill(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Restarts it, and ends it like a crash before if it still runs. Resolves when it answers. */
  restart(): Promise<void>;
  /** Keeps its connections open and answers nothing. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Makes it run and answer, whatever was done to it. For `afterEach`. */
  recover(): Promise<void>;
  /** Ends it and removes its files. */
  close(): Promise<void>;
}
