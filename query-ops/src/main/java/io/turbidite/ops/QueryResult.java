package io.turbidite.ops;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.io.OutputStream;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Rows of a query; interim shape until the record codec is there. */
public interface QueryResult extends Iterable<Map<String, @Nullable Object>>, AutoCloseable {
    /** Moves to the next row; false at the end. */
    boolean next();

    /** The current row, its fields in order. */
    Map<String, @Nullable Object> map();

    /** Appends the current row as one JSON object, without a line break. */
    void toJson(ByteSink utf8);

    /** Declared fields of a row. */
    RecordType rowType();

    /** The remaining rows, one at a time; a view on {@link #next()}. */
    @Override
    Iterator<Map<String, @Nullable Object>> iterator();

    /** The remaining rows, all in memory. */
    List<Map<String, @Nullable Object>> toList();

    /** Writes the remaining rows, one JSON object a line; returns how many. */
    long forEachJson(OutputStream out);

    /** The count of a count query, else the number of remaining rows, which it reads. */
    long count();

    /** How the answer came about, with row counts so far. */
    Explanation explain();

    @Override
    void close();
}
