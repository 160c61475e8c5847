package io.turbidite.hashlog.parse;

import io.turbidite.core.bytes.Utf8;

import java.lang.foreign.MemorySegment;

/** Records whose fields lie at the places that the caller gave. <em>Confined to one thread.</em> */
final class BinaryParser implements RecordParser {
    private final BinaryField[] fields;
    private final FieldValues values;
    private final RecordBytes record = new RecordBytes();

    BinaryParser(BinaryField[] fields, FieldValues values) {
        this.fields = fields;
        this.values = values;
    }

    @Override
    public FieldValues values() {
        return values;
    }

    @Override
    public boolean parse(MemorySegment segment, long offset, int length) {
        record.start(segment, offset, length);
        values.begin(record.array(), length);
        for (int f = 0; f < fields.length && !values.isDone(); f++) {
            BinaryField field = fields[f];
            if (field.offset() + field.byteCount() > length) {
                return values.reject(Rejection.Kind.TRUNCATED, length);
            }
            byte[] bytes = record.copiedTo(field.offset() + field.byteCount());
            if (field.encoding() != BinaryField.Encoding.TEXT) {
                values.foundInteger(f, integer(bytes, field), field.offset(), field.byteCount());
                continue;
            }
            int end = field.offset() + field.byteCount();
            while (end > field.offset() && bytes[end - 1] == 0) {
                end--;
            }
            int byteCount = end - field.offset();
            int invalid =
                    Utf8.firstInvalid(MemorySegment.ofArray(bytes), field.offset(), byteCount);
            if (invalid >= 0 && values.forgives(f)) {
                continue;
            }
            if (invalid >= 0) {
                return values.reject(Rejection.Kind.BAD_UTF8, field.offset() + invalid);
            }
            values.found(f, ValueKind.TEXT, field.offset(), byteCount);
        }
        return true;
    }

    private static long integer(byte[] bytes, BinaryField field) {
        long value = 0;
        for (int i = 0; i < field.byteCount(); i++) {
            value |= (bytes[field.offset() + i] & 0xFFL) << (8 * i);
        }
        int spare = 64 - 8 * field.byteCount();
        return field.encoding() == BinaryField.Encoding.SIGNED ? value << spare >> spare : value;
    }
}
