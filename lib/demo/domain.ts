/* What the refund desk and the services around it talk about. Amounts are whole cents. */

export interface OrderLine {
  readonly sku: string;
  readonly title: string;
  readonly category: 'books' | 'clothing' | 'electronics';
  readonly paidCents: number;
  readonly daysSinceDelivery: number;
}

export interface Order {
  readonly id: string;
  readonly customer: { readonly id: string; readonly name: string; readonly email: string };
  readonly currency: string;
  readonly lines: readonly OrderLine[];
}

export interface PolicyText {
  readonly category: OrderLine['category'];
  readonly returnDays: number;
  readonly text: string;
}

/** What was decided about one line of an order. */
export interface LineRefund {
  readonly sku: string;
  readonly amountCents: number;
  readonly why: string;
}
