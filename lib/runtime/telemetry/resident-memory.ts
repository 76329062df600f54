/** Reading the memory needs a file descriptor. While none is free, the previous value is returned. */
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
