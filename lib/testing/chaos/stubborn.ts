import { refundDesk } from '@/lib/demo/refund-desk';
import { createRefund } from '@/lib/demo/tools';
import { defineAgent } from '@/lib/sdk/index';

const as = new URL(import.meta.url).searchParams.get('as') ?? 'chaos';

/** The same desk with a payment tool that does not mind its signal: what has been handed to it leaves, however late. */
export const stubborn = defineAgent({
  ...refundDesk,
  name: `${as}-stubborn`,
  tools: {
    ...refundDesk.tools,
    create_refund: {
      ...createRefund,
      run: (args, call) => createRefund.run(args, { ...call, signal: new AbortController().signal }),
    },
  },
});
