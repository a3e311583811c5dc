import { useQueryState } from 'nuqs';
import { openParam } from '@/lib/client/url-state';

/** Whether the dialog is open, in the address. */
export const useExportOpen = () => useQueryState('open', openParam);
