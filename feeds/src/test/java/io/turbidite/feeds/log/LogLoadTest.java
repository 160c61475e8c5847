package io.turbidite.feeds.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.log.LogLoad.Totals;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

class LogLoadTest {
    @TempDir
    private Path directory;

    private OpenLog open;
    private final List<String> refused = Collections.synchronizedList(new ArrayList<>());

    @BeforeEach
    void open() {
        HashLogOptions options = OpenLog.defaults()
                .withLog(LogOptions.of(new LogShape(256 << 10, 8, 64)).withFlushMicros(1_000))
                .withTable(8, 1 << 24);
        open = OpenLog.openOrCreate(directory.resolve("log"), options);
        LogPsfs.parse(Map.of("kind", "field(kind)")).registerMissing(open.log());
    }

    @AfterEach
    void close() {
        open.close();
    }

    private static LogLoad.Input pieces(byte[] bytes, int piece) {
        ByteArrayInputStream in = new ByteArrayInputStream(bytes);
        return (into, offset, count) -> in.read(into, offset, Math.min(piece, count));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private Totals load(byte[] bytes, int piece, int threads, BooleanSupplier stopped) {
        try (LogLoad load = LogLoad.start(
                open, threads, (input, at, why) -> refused.add(input + "@" + at + " " + why))) {
            load.read("in", pieces(bytes, piece), stopped, () -> true);
            return load.finish();
        }
    }

    private long count(LogQuery query) {
        long count = 0;
        try (LogCursor cursor = open.log().find(query)) {
            while (cursor.next()) {
                count++;
            }
        }
        return count;
    }

    private static String lines(int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append("{\"n\":%d,\"kind\":\"k%d\"}\n".formatted(i, i % 10));
        }
        return text.toString();
    }

    @Test
    void every_line_becomes_a_record_wherever_the_input_is_cut() {
        byte[] bytes = utf8(lines(2_000));
        for (int piece : new int[] {7, 1_000, 1 << 20}) {
            assertThat(load(bytes, piece, 1, () -> false).records()).isEqualTo(2_000);
        }
        assertThat(count(LogQuery.property("kind", "k3"))).isEqualTo(600);
    }

    @Test
    void several_workers_take_each_line_once() {
        assertThat(load(utf8(lines(20_000)), 9_999, 3, () -> false).records()).isEqualTo(20_000);
        assertThat(count(LogQuery.property("kind", "k7"))).isEqualTo(2_000);
        assertThat(count(LogQuery.expression("n == 12345"))).isEqualTo(1);
    }

    @Test
    void a_refused_record_is_told_with_its_place_in_the_input() {
        Totals totals = load(utf8("{\"kind\":1}\n{\"kind\":nul}\n{\"kind\":2}"), 5, 1, () -> false);
        assertThat(totals.records()).isEqualTo(2);
        assertThat(totals.rejected()).isEqualTo(1);
        assertThat(refused).hasSize(1);
        assertThat(refused.getFirst()).startsWith("in@11 the record has a malformed literal");
    }

    @Test
    void a_line_longer_than_a_page_is_refused_and_the_next_is_taken() {
        String huge = "{\"kind\":\"big\",\"x\":\"" + "y".repeat(3 << 20) + "\"}\n";
        Totals totals = load(utf8(huge + "{\"kind\":\"small\"}\n"), 100_000, 1, () -> false);
        assertThat(totals.records()).isEqualTo(1);
        assertThat(totals.rejected()).isEqualTo(1);
        assertThat(refused.getFirst()).contains("in@0 ", "fit a page");
    }

    @Test
    void a_line_that_nothing_could_hold_is_passed_over_unread() {
        byte[] bytes = utf8("{\"kind\":\"" + "z".repeat(65 << 20) + "\"}\n{\"kind\":\"after\"}\n");
        Totals totals = load(bytes, 1 << 20, 1, () -> false);
        assertThat(totals.rejected()).isEqualTo(1);
        assertThat(totals.records()).isEqualTo(1);
        assertThat(count(LogQuery.property("kind", "after"))).isEqualTo(1);
    }

    @Test
    void a_stopped_load_keeps_whole_lines_and_drops_the_one_that_was_cut() {
        int[] asked = {0};
        Totals totals = load(
                utf8("{\"kind\":\"a\"}\n{\"kind\":\"b\"}\n{\"kin"), 20, 1, () -> asked[0]++ > 3);
        assertThat(totals.records()).isEqualTo(count(LogQuery.all())).isBetween(1L, 2L);
        assertThat(totals.rejected()).isZero();
    }

    @Test
    void what_was_loaded_is_durable_when_it_is_finished() {
        load(utf8(lines(100)), 1_000, 2, () -> false);
        assertThat(open.log().log().durable()).isEqualTo(open.log().log().safeTail());
    }

    @Test
    void a_psf_of_the_same_name_must_be_the_same() {
        LogPsfs.parse(Map.of("kind", "field(kind)")).registerMissing(open.log());
        assertThat(open.log().psfs()).hasSize(1);
        LogPsfs other = LogPsfs.parse(Map.of("kind", "field(other)", "new", "field(n)"));
        assertThatThrownBy(() -> other.registerMissing(open.log()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'kind' is registered as field(kind), not as field(other)");
        assertThat(open.log().psfs()).hasSize(1);
    }

    @Test
    void fields_are_shown_as_json() {
        FieldRows rows = new FieldRows(open.log().parser(), List.of("a", "b.c", "d", "e"));
        byte[] record = utf8("{\"a\":\"x\\\"\\u00e4\",\"b\":{\"c\":[1, 2]},\"d\":-1.50}");
        ByteSink to = new ByteSink(64, 1 << 20);
        rows.append(MemorySegment.ofArray(record), 0, record.length, to);
        assertThat(new String(to.asSlice(new Slice()).toByteArray(), StandardCharsets.UTF_8))
                .isEqualTo("{\"a\":\"x\\\"ä\",\"b.c\":[1, 2],\"d\":-1.50,\"e\":null}");
    }
}
