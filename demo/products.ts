export interface Product {
  id: string;
  name: string;
  note: string;
  /** In minor units of the shop's currency. */
  amount: number;
  /** The path of a 24 × 24 line drawing. */
  drawing: string;
}

export const currency = 'EUR';

export const products: readonly Product[] = [
  {
    id: 'beans',
    name: 'Morning beans',
    note: 'Washed Ethiopian coffee, 250 g, roasted this week.',
    amount: 1290,
    drawing: 'M7 3h10l1.5 4v13a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1V7zM5.5 7h13M9 12h6v5H9z',
  },
  {
    id: 'mug',
    name: 'Stoneware mug',
    note: 'Thrown by hand, holds 300 ml, no two alike.',
    amount: 1800,
    drawing: 'M5 8h11v9a3 3 0 0 1-3 3H8a3 3 0 0 1-3-3zM16 10h2a2.5 2.5 0 0 1 0 5h-2M8 3v2M12 3v2',
  },
  {
    id: 'pour-over',
    name: 'Pour-over set',
    note: 'Glass dripper, server and forty paper filters.',
    amount: 4250,
    drawing: 'M5 3h14l-5 7h-4zM10 10v2h4v-2M8 14h8l2 7H6zM7 18h10',
  },
];

export const findProduct = (id: string | null): Product | undefined =>
  products.find((product) => product.id === id);
