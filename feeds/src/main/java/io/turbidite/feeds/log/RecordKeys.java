package io.turbidite.feeds.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.TypeKind;
import io.turbidite.hashlog.parse.FieldListener;
import io.turbidite.hashlog.parse.FieldValues;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.parse.RecordParser;
import io.turbidite.hashlog.parse.ScanMode;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Encoded primary keys of a dataset, made of fields of a log's records. <em>Confined to one
 * thread.</em>
 *
 * <p>As everywhere, types are not coerced: a number of the log is no key of strings, nor the other
 * way round. Text of CSV and binary records is read as the key's type, because they have no other
 * way to write it.
 */
final class RecordKeys {
    private final KeySpec spec;
    private final RecordParser parser;
    private final boolean isTyped;
    private final List<Object> values = new ArrayList<>();

    /**
     * @param paths of the fields that stand for those of the key, in its order
     * @throws InvalidRequestException if they are not as many, or records can't have one
     */
    RecordKeys(ParserSpec records, List<String> paths, KeySpec spec) {
        if (paths.size() != spec.kinds().size()) {
            throw new InvalidRequestException(
                    "a join on %s, but the primary key is %s: name a field of the log for each of its fields"
                            .formatted(paths, spec.fields()));
        }
        this.spec = spec;
        this.isTyped = records instanceof ParserSpec.Json;
        this.parser = records.newParser(
                paths.stream().map(FieldPath::parse).toList(), FieldListener.NONE, ScanMode.best());
    }

    /** Appends the key of a record; nothing if it has none. */
    void append(MemorySegment segment, long offset, int length, ByteSink to) {
        if (!parser.read(segment, offset, length)) {
            return;
        }
        values.clear();
        for (int f = 0; f < spec.kinds().size(); f++) {
            Object value = value(parser.values(), f, spec.kinds().get(f));
            if (value == null) {
                return;
            }
            values.add(value);
        }
        spec.appendValues(to, values);
    }

    private @Nullable Object value(FieldValues found, int field, TypeKind kind) {
        return switch (found.kind(field)) {
            case MISSING, NULL, OBJECT, ARRAY -> null;
            case FALSE, TRUE -> kind == TypeKind.BOOL ? read(kind, found.text(field)) : null;
            case INTEGER ->
                isWhole(kind)
                        ? whole(kind, found.integer(field))
                        : isNumber(kind) ? read(kind, found.text(field)) : null;
            case DECIMAL -> isNumber(kind) && !isWhole(kind) ? read(kind, found.text(field)) : null;
            case TEXT, DECODED_TEXT ->
                isTyped && (isNumber(kind) || kind == TypeKind.BOOL)
                        ? null
                        : read(kind, found.text(field));
        };
    }

    private static boolean isWhole(TypeKind kind) {
        return switch (kind) {
            case INT8, INT16, INT32, INT64 -> true;
            default -> false;
        };
    }

    private static boolean isNumber(TypeKind kind) {
        return switch (kind) {
            case FLOAT, DOUBLE, DECIMAL -> true;
            default -> isWhole(kind);
        };
    }

    private static @Nullable Object whole(TypeKind kind, long number) {
        return KindValues.inRange(kind, number) ? KindValues.fromLong(kind, number) : null;
    }

    private static @Nullable Object read(TypeKind kind, String text) {
        try {
            return ValueParser.parse(kind, text);
        } catch (InvalidRequestException notOfTheKind) {
            return null; // no record of the dataset has such a key
        }
    }
}
