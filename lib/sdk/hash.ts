import { hash as digestOf } from 'node:crypto';
import type { Sha256 } from '../core/events/ids';
import type { Hash } from '../core/events/payload';

/** SHA-256 of bytes, or of text as UTF-8. */
export const hash: Hash = (content) => digestOf('sha256', content, 'hex') as Sha256;
