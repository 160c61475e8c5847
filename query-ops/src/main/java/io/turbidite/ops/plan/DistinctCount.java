package io.turbidite.ops.plan;

/** How many values a field has, told from a sample. Static, without state. */
public final class DistinctCount {
    private static final int HALVINGS = 60;

    private DistinctCount() {}

    /**
     * How many values there are if {@code draws} draws have met {@code seen}, each as likely as the
     * others: the n with n (1 - exp(-draws / n)) = seen. Values that are much rarer than others are
     * missed, so this is rather too few than too many.
     *
     * @return at least {@code seen}, but for 0 draws, at most the square of {@code draws}
     */
    public static double of(int draws, int seen) {
        if (draws == 0) {
            return 0;
        }
        double target = Math.min(seen, draws - 0.5); // half a pair where none was met
        double low = Math.max(1, target);
        double high = Math.max(low, (double) draws * draws);
        for (int i = 0; i < HALVINGS && high - low > 0.5; i++) {
            double middle = (low + high) / 2;
            if (-middle * Math.expm1(-draws / middle) < target) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return Math.max(seen, low);
    }
}
