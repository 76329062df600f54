/** What the registry writes into the route store and the gateway reads there (Gateway specification, Stored projection). */

/** One key for each service, its name behind this; the value is its `StoredServiceConfig` as JSON. */
export const ROUTES_PREFIX = "edge/gateway/routes/";

/** The fence of each service's last projection, out of the gateway's sight. */
export const FENCES_PREFIX = "edge/gateway/revisions/";
