import { toast } from '@/components/ui/toast';

/** Whether it is in the clipboard now; says so. */
export async function copyText(text: string, what: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    toast.success(`${what} copied`);
    return true;
  } catch {
    // No leave to write there, or no secure context.
    toast.error('The browser does not let this page copy');
    return false;
  }
}
