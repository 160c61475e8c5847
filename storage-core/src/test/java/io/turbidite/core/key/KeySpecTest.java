package io.turbidite.core.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Keys of records and of values are the same bytes, can be split again, and have a limit. */
class KeySpecTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("tail", "string?")
            .field("flight", "int32")
            .build();
    private static final KeySpec PRIMARY = KeySpec.of(TYPE, List.of("id"), "primary key");
    private static final KeySpec BY_TAIL = KeySpec.of(TYPE, List.of("tail", "flight"), "by_tail");

    private final RecordView view = new RecordView(TYPE);
    private final RecordWriter writer = new RecordWriter(TYPE);

    @Test
    void aRecordsKeyIsTheKeyOfItsValues() {
        view.wrap(writer.write(Map.of("id", 336_776L, "tail", "N1\0", "flight", -3)));
        ByteSink sink = new ByteSink(16, 1 << 12);
        BY_TAIL.append(view, sink);
        int split = sink.length();
        PRIMARY.append(view, sink);
        Slice key = sink.asSlice(new Slice());
        assertThat(Arrays.copyOf(key.toByteArray(), split)).isEqualTo(BY_TAIL.encode("N1\0", -3));
        assertThat(BY_TAIL.length(key, 0)).isEqualTo(split);
        assertThat(BY_TAIL.decode(key, 0)).containsExactly("N1\0", -3);
        assertThat(PRIMARY.decode(key, split)).containsExactly(336_776L);
        assertThat(BY_TAIL.hasNullOrMissing(view)).isFalse();
    }

    @Test
    void aFieldThatIsNotThereSortsFirst() {
        view.wrap(writer.write(Map.of("id", 1, "flight", 1)));
        ByteSink sink = new ByteSink(16, 1 << 12);
        BY_TAIL.append(view, sink);
        assertThat(sink.asSlice(new Slice()).toByteArray()).isEqualTo(BY_TAIL.encode(null, 1));
        assertThat(BY_TAIL.hasNullOrMissing(view)).isTrue();
        assertThat(Arrays.compareUnsigned(BY_TAIL.encode(null, 1), BY_TAIL.encode("", -1)))
                .isNegative();
    }

    @Test
    void aKeyHasALongestLength() {
        view.wrap(writer.write(Map.of("id", 1, "flight", 1, "tail", "x".repeat(2_000))));
        ByteSink sink = new ByteSink(16, 1 << 12);
        sink.putByte(7);
        assertThatThrownBy(() -> BY_TAIL.append(view, sink))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("1024");
        assertThat(sink.length()).isEqualTo(1);
        assertThatThrownBy(() -> BY_TAIL.encode("x".repeat(2_000))).hasMessageContaining("1024");
        assertThatThrownBy(() -> BY_TAIL.encode(1)).hasMessageContaining("'tail'");
        assertThatThrownBy(() -> KeySpec.of(TYPE, List.of("tial"), "index t"))
                .hasMessageContaining("tial");
    }

    @Test
    void aKeyOfExactlyTheLongestLengthIsTaken() {
        // the terminator of the string and one byte for the number 0
        String longest = "x".repeat(Limits.KEY_BYTES_MAX - 2);
        view.wrap(writer.write(Map.of("id", 1, "flight", 0, "tail", longest)));
        ByteSink sink = new ByteSink(16, Limits.KEY_BYTES_MAX);
        BY_TAIL.append(view, sink);
        assertThat(sink.length()).isEqualTo(Limits.KEY_BYTES_MAX);
        assertThat(BY_TAIL.encode(longest, 0)).hasSize(Limits.KEY_BYTES_MAX);
        assertThatThrownBy(() -> BY_TAIL.encode(longest + "x", 0)).hasMessageContaining("1024");
        view.wrap(writer.write(Map.of("id", 1, "flight", 1, "tail", longest)));
        assertThatThrownBy(() -> BY_TAIL.append(view, new ByteSink(16, 1 << 12)))
                .hasMessageContaining("1024");
    }
}
