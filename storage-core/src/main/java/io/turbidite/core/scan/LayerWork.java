package io.turbidite.core.scan;

import java.util.ArrayList;
import java.util.List;

/**
 * Which layers a search, scan or fetch asked, and which its filter let it pass over, to explain its
 * cost. <em>Immutable.</em>
 *
 * @param layerCount memory layers and components that it considered
 * @param pageCount leaf pages of components that a scan or search went to, whether the cache had
 *     them or not; of a fetch {@link FetchWork} tells
 * @param ruledOut of these, those that it passed over: for each filter field of the source, in its
 *     order, the ones that this field ruled out first; fields behind the last that did are left out
 * @param files the components that it read, and those that it passed over
 */
public record LayerWork(long layerCount, long pageCount, List<Long> ruledOut, LayerFiles files) {
    /** No work. */
    public static final LayerWork NONE = new LayerWork(0, 0, List.of(), LayerFiles.NONE);

    /** Without the files of components. */
    public LayerWork(long layerCount, long pageCount, List<Long> ruledOut) {
        this(layerCount, pageCount, ruledOut, LayerFiles.NONE);
    }

    public LayerWork {
        ruledOut = List.copyOf(ruledOut);
    }

    /** Layers passed over, by whichever field. */
    public long ruledOutCount() {
        long count = 0;
        for (long one : ruledOut) {
            count += one;
        }
        return count;
    }

    /** The sum of both, count by count. */
    public LayerWork plus(LayerWork more) {
        LayerFiles bothFiles = files.plus(more.files);
        if (more.ruledOut.isEmpty()) {
            return new LayerWork(
                    layerCount + more.layerCount, pageCount + more.pageCount, ruledOut, bothFiles);
        }
        List<Long> sums = new ArrayList<>();
        for (int i = 0; i < Math.max(ruledOut.size(), more.ruledOut.size()); i++) {
            sums.add(count(ruledOut, i) + count(more.ruledOut, i));
        }
        return new LayerWork(
                layerCount + more.layerCount, pageCount + more.pageCount, sums, bothFiles);
    }

    private static long count(List<Long> counts, int field) {
        return field < counts.size() ? counts.get(field) : 0;
    }
}
