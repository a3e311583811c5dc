import type { EpochMs } from '@/lib/core/events/ids';
import type { Hash } from '@/lib/core/events/payload';
import type { EngineDriver, IdSource, Store } from './ports';

/** What use-cases are given. Each asks for the part that it needs. */
export interface UsecaseDeps {
  readonly store: Store;
  readonly engine: EngineDriver;
  readonly ids: IdSource;
  readonly hash: Hash;
  /** Length of a lease. */
  readonly leaseMs: number;
  /** When the console started, by the store's clock: no lease is judged within its own length of this instant. */
  readonly judgedFrom: EpochMs;
  /** Who asks, as journal and audit show it; the operating system's user where no sign-in is asked for. */
  readonly actor: string;
  /** Why whoever asks may give no order; absent where it may. */
  readonly barred?: string;
}
