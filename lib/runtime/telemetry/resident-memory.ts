/**
 * Returns a function that reads the resident memory of the process in bytes, which needs a file descriptor. While no
 * descriptor is free, the function returns the previous value.
 */
export function residentMemory(): () => number {
  let last = 0;
  return () => {
    try {
      last = process.memoryUsage.rss();
    } catch {
      // No descriptor is free. The runtime's error has no code to check.
    }
    return last;
  };
}
