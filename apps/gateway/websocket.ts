export type GatewaySocket = undefined;
