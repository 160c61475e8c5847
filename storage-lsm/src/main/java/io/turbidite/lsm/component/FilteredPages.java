package io.turbidite.lsm.component;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.btree.PageChoice;
import io.turbidite.lsm.component.PageBounds.Words;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * The pages of a component of records that a filter does not rule out, as far as scans have learned
 * what is on them; what is not known yet is learned by the way. <em>Confined to one thread.</em>
 */
public final class FilteredPages implements PageChoice {
    private static final Slice NULL_MARKER = Slice.of(new byte[2]);

    private final PageBounds bounds;
    private final List<Wanted> wanted;
    private final RecordView record;
    private final ByteSink sink = new ByteSink(64, 1 << 20);
    private final Slice encoded = new Slice();
    private final Words value = new Words();

    /** The page that would go on what is being learned of its group; -1 if nothing is. */
    private int coming = -1;

    private FilteredPages(PageBounds bounds, List<Wanted> wanted, RecordType type) {
        this.bounds = bounds;
        this.wanted = wanted;
        this.record = new RecordView(type);
    }

    /**
     * The pages of a component.
     *
     * @param fields the filter fields
     * @return null if the filter has no range of one of them
     */
    public static @Nullable FilteredPages of(
            DiskComponent component,
            RecordType type,
            List<KeySpec> fields,
            FilterPredicate predicate) {
        List<Wanted> wanted = new ArrayList<>();
        for (int i = 0; i < Math.min(fields.size(), predicate.ranges().size()); i++) {
            KeyRange range = predicate.ranges().get(i);
            if (!range.isAll()) {
                PageBounds.Field known = component.pageBounds(fields.size()).field(i);
                wanted.add(new Wanted(fields.get(i), known, range));
            }
        }
        return wanted.isEmpty()
                ? null
                : new FilteredPages(component.pageBounds(fields.size()), wanted, type);
    }

    /** A field, what is wanted of it, and what is being learned of a group. */
    private static final class Wanted {
        final KeySpec field;
        final PageBounds.Field known;
        final @Nullable Words low;
        final @Nullable Words high;
        final boolean wantsAbsent;
        final Words min = new Words();
        final Words max = new Words();
        boolean isSeen;
        boolean hasAbsent;

        Wanted(KeySpec field, PageBounds.Field known, KeyRange range) {
            this.field = field;
            this.known = known;
            this.low = words(range.low());
            this.high = words(range.high());
            this.wantsAbsent = range.contains(NULL_MARKER);
        }

        private static @Nullable Words words(@Nullable Slice bound) {
            if (bound == null) {
                return null;
            }
            Words words = new Words();
            read(bound, words);
            return words;
        }
    }

    /** The first sixteen bytes, padded with zeros. */
    private static void read(Slice bytes, Words words) {
        int rest = bytes.length() - Long.BYTES;
        words.set(
                Bytes.prefix(bytes.segment(), bytes.offset(), bytes.length()),
                rest <= 0 ? 0 : Bytes.prefix(bytes.segment(), bytes.offset() + Long.BYTES, rest));
    }

    @Override
    public int next(int page) {
        int next = page;
        while (next < bounds.pageCount() && isRuledOut(bounds.group(next))) {
            next = bounds.firstPage(bounds.group(next) + 1);
        }
        return Math.min(next, bounds.pageCount());
    }

    private boolean isRuledOut(int group) {
        for (Wanted field : wanted) {
            if (field.known.rulesOut(group, field.wantsAbsent, field.low, field.high)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean wantsValues(int page) {
        if (bounds.isFirstOfGroup(page)) {
            int group = bounds.group(page);
            coming = -1;
            for (Wanted field : wanted) {
                if (!field.known.isKnown(group)) {
                    coming = page;
                }
                field.isSeen = false;
                field.hasAbsent = false;
            }
        } else if (page != coming) {
            coming = -1;
        }
        return coming >= 0;
    }

    @Override
    public void learn(Slice bytes) {
        record.wrap(bytes);
        for (Wanted field : wanted) {
            if (field.field.hasNullOrMissing(record)) {
                field.hasAbsent = true;
                continue;
            }
            field.field.append(record, sink.clear());
            read(sink.asSlice(encoded), value);
            if (!field.isSeen || value.compareTo(field.min.first, field.min.second) < 0) {
                field.min.set(value.first, value.second);
            }
            if (!field.isSeen || value.compareTo(field.max.first, field.max.second) > 0) {
                field.max.set(value.first, value.second);
            }
            field.isSeen = true;
        }
    }

    @Override
    public void learned(int page) {
        if (!bounds.isLastOfGroup(page)) {
            coming = page + 1;
            return;
        }
        coming = -1;
        for (Wanted field : wanted) {
            field.known.put(
                    bounds.group(page), field.min, field.max, field.isSeen, field.hasAbsent);
        }
    }
}
