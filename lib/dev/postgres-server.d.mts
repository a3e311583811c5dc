export function postgresServer(env?: Readonly<Record<string, string | undefined>>): string | undefined;
