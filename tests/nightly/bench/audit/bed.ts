import { ServiceBed, type ServiceProcess } from "../measure/service-bed.ts";

export class AuditBed extends ServiceBed {
  service(databaseUrl: string): Promise<ServiceProcess> {
    return this.process("apps/audit/main.ts", { DATABASE_URL: databaseUrl });
  }
}
