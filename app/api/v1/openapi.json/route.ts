import { openapiEndpoint } from '@/lib/server/openapi/openapi-endpoint';
import { routes } from '@/lib/server/routes';

export const GET = openapiEndpoint(() => routes);
