import type { OpenApiDocument } from '@/lib/wire/openapi';
import { addressOf } from '../connect';
import { deps } from '../container';
import { routes } from '../routes';
import { documentOf } from './document';

let made: OpenApiDocument | undefined;

/** What the page API shows to whoever came by this request: the same document as programs get. */
export async function readReference(header: (name: string) => string | undefined): Promise<{
  readonly document: OpenApiDocument;
  readonly address: string;
  readonly tokens: boolean;
}> {
  const { gate } = await deps();
  made ??= documentOf(routes);
  return { document: made, address: addressOf(header), tokens: !gate.open };
}
