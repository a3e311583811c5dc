import type { MachineDigest } from '@/lib/core/events/ids';
import { machineDigestOf } from '@/lib/core/machine/drift';
import type { Machine } from '@/lib/core/machine/machine';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';

export type PutMachineProblem = {
  readonly kind: 'digest-differs';
  readonly detail: string;
  readonly expected: MachineDigest;
};

/** Stores a declaration under its digest, which must be that of the declaration. */
export async function putMachine(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  ask: { readonly digest: MachineDigest; readonly machine: Machine },
): Promise<Result<{ readonly digest: MachineDigest }, PutMachineProblem>> {
  const digest = machineDigestOf(ask.machine, deps.hash);
  if (digest !== ask.digest) {
    return fail({
      kind: 'digest-differs',
      expected: digest,
      detail: `The declaration has the digest ${digest}, not ${ask.digest}.`,
    });
  }
  await deps.store.machines.put(digest, ask.machine);
  return ok({ digest });
}

/** A stored declaration. */
export async function getMachine(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly digest: MachineDigest },
): Promise<Result<Machine, { readonly kind: 'not-found'; readonly detail: string }>> {
  const machine = await deps.store.machines.get(ask.digest);
  return machine === undefined
    ? fail({ kind: 'not-found', detail: `No machine ${ask.digest} is stored.` })
    : ok(machine);
}
