import { hash } from 'node:crypto';
import { sha256 } from '@/lib/core/events/ids';
import type { Hash } from '@/lib/core/events/payload';

export const sha256Hash: Hash = (content) => sha256(hash('sha256', content, 'hex'));
