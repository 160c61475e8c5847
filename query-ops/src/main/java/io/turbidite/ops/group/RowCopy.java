package io.turbidite.ops.group;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;

/**
 * Rows of one type as rows of another that has as many fields of the same kinds, by other names, or
 * wider whole numbers. What a row has beyond its declared fields is left out. <em>Confined to one
 * thread.</em>
 */
public final class RowCopy {
    private final RecordWriter writer;
    private final int[] sources;
    private final int[] targets;
    private final boolean[] widens;

    /** Both types have fields of the same kinds at their tops. */
    public RowCopy(RecordType from, RecordType to) {
        this.writer = new RecordWriter(to);
        this.sources = tops(from);
        this.targets = tops(to);
        this.widens = new boolean[sources.length];
        for (int i = 0; i < sources.length; i++) {
            widens[i] = from.field(sources[i]).kind() != to.field(targets[i]).kind();
        }
    }

    private static int[] tops(RecordType type) {
        int[] tops = new int[type.declared().size()];
        int field = 0;
        for (int i = 0; i < tops.length; i++) {
            tops[i] = field;
            field = type.behind(field);
        }
        return tops;
    }

    /** The row; valid until the next. */
    public Slice of(RecordView row) {
        writer.begin();
        for (int i = 0; i < sources.length; i++) {
            if (widens[i] && !row.isAbsent(sources[i])) {
                writer.setLong(targets[i], row.getLong(sources[i]));
            } else {
                writer.copy(targets[i], row, sources[i]);
            }
        }
        return writer.finish();
    }
}
