/**
 * Returns whether a request gets back what its limits charged (GW-185).
 *
 * @param status the status of the response, or null if the client left before the response
 */
export function isRefunded(status: number | null): boolean {
  return status === null || status >= 500;
}
