import { describe } from 'vitest';
import { memoryStore } from './memory-store';
import { storeContract } from './store-contract';

describe('memory store', () => {
  storeContract({ durable: false }, async () => {
    const store = memoryStore();
    return { store, close: () => store.close() };
  });
});
