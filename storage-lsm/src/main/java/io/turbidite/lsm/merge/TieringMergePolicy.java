package io.turbidite.lsm.merge;

import java.util.List;
import java.util.Optional;

/**
 * The tiering policy of LUO19 §6.1: a sequence of components up to the newest is merged when the
 * younger ones together are {@code sizeRatio} times as large as the oldest of the sequence.
 *
 * <p>Of all such sequences the longest is taken, so that one merge does the work of several. A
 * component of {@code mergeableBytesMax} or more ends the list: it and all that are older stay as
 * they are.
 *
 * <p><b>Cost.</b> Where nothing is to be merged, each component is larger than all younger ones
 * together, divided by r = {@code sizeRatio}: so sums grow by 1 + 1/r from one component to the
 * next. When a flush tips the scale, the oldest component of the sequence becomes 1 + r times as
 * large, and a younger one at least 1 + 1/r times. With n flushes:
 *
 * <pre>
 * components      &lt;= 2 + log_(1+1/r)(n)
 * writes per byte &lt;= 1 + log_b(n)         b = 1 + min(r, 1/r)
 * </pre>
 *
 * <p>Exactly, for equal flushes: all becomes one component at c(0) = 1, c(j+1) = c(j) + ceil(r
 * c(j)) flushes, and meanwhile what lies above c(j) is a list like any other. So 1 + m(n)/n writes
 * per byte, where
 *
 * <pre>
 * m(c(j) + i) = m(c(j)) + m(i)            m(c(j+1)) = m(c(j)) + m(c(j+1) - c(j) - 1) + c(j+1)
 * </pre>
 *
 * which is about 0.65 log_2(n) for ratio 1.2, and 0.4 log_2(n) for 3. With a cap of M bytes it ends
 * at the first c(j) that fills M, and n/c(j) components of that size stay.
 *
 * @param sizeRatio more than 0; LUO19 and HBase use 1.2, the default is 3
 * @param mergeCountMin the fewest components that are worth a merge, at least 2
 * @param mergeableBytesMax size from which a component is left alone; LUO19 uses 1 GiB
 */
public record TieringMergePolicy(double sizeRatio, int mergeCountMin, long mergeableBytesMax)
        implements MergePolicy {
    public TieringMergePolicy {
        Parameter.checkRatio("sizeRatio", sizeRatio);
        Parameter.checkMergeCount("mergeCountMin", mergeCountMin);
        Parameter.checkBytes("mergeableBytesMax", mergeableBytesMax);
    }

    @Override
    public Optional<MergeRange> choose(List<ComponentSize> newestFirst) {
        int first = 0;
        int last = -1;
        long youngerBytes = 0;
        for (int oldest = 0; oldest < newestFirst.size(); oldest++) {
            ComponentSize component = newestFirst.get(oldest);
            if (component.bytes() >= mergeableBytesMax || (component.isMerging() && last >= 0)) {
                break;
            }
            if (component.isMerging()) {
                first = oldest + 1;
                youngerBytes = 0;
                continue;
            }
            if (oldest - first + 1 >= mergeCountMin
                    && youngerBytes >= sizeRatio * component.bytes()) {
                last = oldest;
            }
            youngerBytes += component.bytes();
        }
        return last < 0 ? Optional.empty() : Optional.of(new MergeRange(first, last));
    }

    @Override
    public boolean isBounded() {
        return true;
    }
}
