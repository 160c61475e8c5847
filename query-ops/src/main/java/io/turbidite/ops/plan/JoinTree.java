package io.turbidite.ops.plan;

/** An order of joins: which relations, by their numbers, meet first. <em>Immutable.</em> */
sealed interface JoinTree {
    /** A bit for each relation in it. */
    long mask();

    /** One relation, by its number. */
    record Leaf(int number) implements JoinTree {
        @Override
        public long mask() {
            return 1L << number;
        }
    }

    /**
     * Two that are joined.
     *
     * @param left passes by
     * @param right is held
     */
    record Pair(JoinTree left, JoinTree right, long mask) implements JoinTree {
        static Pair of(JoinTree left, JoinTree right) {
            assert (left.mask() & right.mask()) == 0 : left + " and " + right;
            return new Pair(left, right, left.mask() | right.mask());
        }
    }
}
