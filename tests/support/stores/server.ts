/** A store's server that only one test uses and may break. Its URL never changes. */
export interface TestServer {
  readonly url: string;
  /** Ends the server at once, like a crash. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Ends the server like a crash if it runs, and starts it again. Resolves once the server responds. */
  restart(): Promise<void>;
  /** Suspends the server. Its connections stay open, but it does not respond until `thaw`. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Starts or resumes the server, whatever a test has done to it. Call this function in `afterEach`. */
  recover(): Promise<void>;
  close(): Promise<void>;
}
