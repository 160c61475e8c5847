package io.turbidite.lsm.component;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.ComingKeys;
import io.turbidite.lsm.btree.Fences;

/**
 * Which pages of a tree a cursor will want after one that it missed. <em>Confined to the thread of
 * the cursor.</em>
 */
interface PrefetchPlan {
    int NO_PAGE = -1;

    /** A page was missed, and none of those foretold before is there for it. */
    void missed(int page);

    /**
     * The page after {@code page}, which is the missed one or one foretold; {@link #NO_PAGE} if
     * unknown.
     */
    int after(int page);

    /**
     * Of a cursor that may be a scan: as long as it misses one page after the other, in either
     * direction, more and more, 1, 3, 7 and so on; after a miss elsewhere, none.
     */
    static PrefetchPlan ofScan(Fences fences) {
        return new PrefetchPlan() {
            private static final int WINDOW_PAGES_MAX = 1 << 10;

            // the last page that was missed or foretold
            private int last = Integer.MIN_VALUE;

            private int windowPages = 1;
            private int direction = 1;
            private int left;

            @Override
            public void missed(int page) {
                long step = (long) page - last;
                boolean neighbour = Math.abs(step) <= 1;
                windowPages = neighbour ? Math.min(2 * windowPages, WINDOW_PAGES_MAX) : 1;
                if (step != 0) {
                    direction = step < 0 ? -1 : 1;
                } // else it was foretold, but too far
                left = windowPages - 1;
                last = page;
            }

            @Override
            public int after(int page) {
                int next = page + direction;
                if (left == 0 || next < 0 || next >= fences.pageCount()) {
                    return NO_PAGE;
                }
                left--;
                last = next;
                return next;
            }
        };
    }

    /** Of a point cursor that knows the keys it will be asked for. */
    static PrefetchPlan of(ComingKeys keys, Fences fences, long snapshot) {
        return new PrefetchPlan() {
            private final Slice key = new Slice();

            @Override
            public void missed(int page) {
                keys.restart();
            }

            @Override
            public int after(int page) {
                while (keys.next(key)) {
                    int next = fences.pageOf(key, snapshot, page);
                    if (next > page) {
                        return next;
                    }
                }
                return NO_PAGE;
            }
        };
    }
}
