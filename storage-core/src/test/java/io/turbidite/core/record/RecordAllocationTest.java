package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.ElementKeys;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.type.RecordType;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.LongConsumer;

/** A record of ten fields is written, read and made into keys without an object. */
class RecordAllocationTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("departure", "datetime")
            .field("carrier", "string")
            .field("flight", "int32")
            .field("tailnum", "string?")
            .field("dest_name", "string")
            .field("place", "point")
            .field("delay", "double?")
            .field("air_time", "int16?")
            .field("cancelled", "bool")
            .build();

    private static final RecordType NESTED = RecordType.builder()
            .field("id", "int64")
            .field("user", "{lang: string, name: string?}")
            .field("tags", "[string]")
            .build();

    private final RecordWriter nestedWriter = new RecordWriter(NESTED);
    private final RecordView nestedView = new RecordView(NESTED);
    private final ElementKeys tagKeys = new ElementKeys(
            KeySpec.ofEach(NESTED, List.of("user.lang", "tags[]"), "test", KeyForm.CURRENT),
            "test");
    private final EntryKeyList keys = new EntryKeyList();
    private final RecordWriter writer = new RecordWriter(TYPE);
    private final RecordView view = new RecordView(TYPE);
    private final KeySpec key =
            KeySpec.of(TYPE, List.of("tailnum", "place", "departure", "id"), "test");
    private final ByteSink sink = new ByteSink(256, 1 << 16);
    private final Slice slice = new Slice();
    private final Slice carrier = text("UA");
    private final Slice tail = text("N14228");
    private final Slice name = text("George Bush Intercontinental");
    private final CharSequence number = "-227";
    private final CharSequence departure = "2013-01-01T10:15:00Z";
    private final CharSequence delay = "-12.25";
    private final CharSequence note = "späte Ankunft";
    private long sum;

    private static Slice text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        MemorySegment segment = Arena.ofAuto().allocate(bytes.length);
        segment.copyFrom(MemorySegment.ofArray(bytes));
        return new Slice().set(segment, 0, bytes.length);
    }

    private void one(long id) {
        writer.begin();
        writer.setLong(0, id);
        writer.setText(1, departure);
        writer.setString(2, carrier);
        writer.setLong(3, 1_545);
        writer.setString(5, name);
        writer.setString(4, tail);
        writer.setPoint(6, -95.34144, 29.98443);
        writer.setText(7, delay);
        writer.setText(8, number);
        writer.setLong(9, id & 1);
        writer.openString("note", note);
        view.wrap(writer.finish());
        sum += view.getLong(0) + view.getLong(8) + view.getBytes(5, slice).length();
        sum += (long) (view.getDouble(7) + view.getCoordinate(6, 1));
        key.append(view, sink.clear());
        sum += sink.length();
    }

    /** Ten tags, of which the key list has the distinct ones, in a record with another in it. */
    private void nested(long id) {
        int tags = NESTED.indexOf("tags");
        int tag = NESTED.eachOf(tags);
        nestedWriter.begin();
        nestedWriter.setLong(0, id);
        nestedWriter.setString(NESTED.indexOf("user.lang"), carrier);
        nestedWriter.beginArray(tags);
        for (int i = 0; i < 10; i++) {
            nestedWriter.setString(tag, i % 2 == 0 ? tail : name);
        }
        nestedWriter.endArray(tags);
        nestedView.wrap(nestedWriter.finish());
        for (boolean is = nestedView.firstElement(tag); is; is = nestedView.nextElement(tag)) {
            sum += nestedView.getBytes(tag, slice).length();
        }
        tagKeys.append(nestedView, tail, keys.clear());
        sum += keys.count();
    }

    @Test
    void noObjectIsMade() {
        checkNoObjects(this::one);
    }

    @Test
    void noObjectIsMadeOfArraysAndNestedRecords() {
        checkNoObjects(this::nested);
    }

    private void checkNoObjects(LongConsumer one) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int rounds = 20_000;
        // the first rounds link and compile
        for (int i = 0; i < rounds; i++) {
            one.accept(i);
        }
        long leastBytes = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && leastBytes > rounds; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < rounds; i++) {
                one.accept(i);
            }
            leastBytes = Math.min(leastBytes, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(sum).isNotZero();
        assertThat(leastBytes).as("bytes for %d records", rounds).isLessThan(rounds);
    }
}
