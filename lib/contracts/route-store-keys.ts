/** The keys that registry and gateways share in the route store (RG-77, RG-78, GW-30). */

/** The service's name follows. The value is a `StoredServiceConfig` as JSON. */
export const ROUTES_PREFIX = "edge/gateway/routes/";

/** The service's name follows. The fence belongs to the service's last projection; gateways do not read it. */
export const FENCES_PREFIX = "edge/gateway/revisions/";

/** The gateway's id follows. The key has a lease. The value is a `GatewayInstance` as JSON. */
export const INSTANCES_PREFIX = "edge/gateway/instances/";

/** With etcd's own delays, the key disappears at most 15 s after the last renewal. */
export const INSTANCE_TTL_SECONDS = 10;
