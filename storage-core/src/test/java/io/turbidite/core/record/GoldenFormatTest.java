package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/**
 * The bytes that versions of records and keys have written, in {@code src/test/resources/golden}:
 * they are read for ever, and still written. A change that fails here is a change of format, and
 * needs a version.
 */
class GoldenFormatTest {
    /** A field of every kind; the first line of the records' golden file is this. */
    private static final RecordType EVERY_KIND = RecordType.builder()
            .field("id", "int64")
            .field("flag", "bool?")
            .field("i8", "int8?")
            .field("i16", "int16?")
            .field("i32", "int32?")
            .field("float", "float?")
            .field("double", "double?")
            .field("decimal", "decimal?")
            .field("string", "string?")
            .field("bytes", "bytes?")
            .field("uuid", "uuid?")
            .field("date", "date?")
            .field("time", "time?")
            .field("datetime", "datetime?")
            .field("duration", "duration?")
            .field("point", "point?")
            .field("rectangle", "rectangle?")
            .build();

    /** Arrays and nested records: the first line of the golden file of version 2 is this. */
    private static final RecordType NESTED = RecordType.builder()
            .field("id", "int64")
            .field(
                    "user",
                    "{lang: string, name: string?, tags: [string]?, at: {place: point?, day: date?}?}?")
            .field("hashtags", "[string]")
            .field("flags", "[bool]?")
            .field("i8", "[int8]?")
            .field("i32", "[int32]?")
            .field("doubles", "[double]?")
            .field("decimals", "[decimal]?")
            .field("uuids", "[uuid]?")
            .field("days", "[date]?")
            .field("times", "[datetime]?")
            .field("places", "[point]?")
            .build();

    private static List<String> lines(String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(
                GoldenFormatTest.class.getResourceAsStream("/golden/" + name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        }
    }

    private static String hex(ByteSink sink) {
        return HexFormat.of().formatHex(sink.asSlice(new Slice()).toByteArray());
    }

    @Test
    void keysAreWrittenAndReadAsEver() throws IOException {
        keysAreAsIn("keys-v1.txt", KeyForm.SIGNED_ZEROS);
        keysAreAsIn("keys-v2.txt", KeyForm.ONE_ZERO);
    }

    private static void keysAreAsIn(String file, KeyForm form) throws IOException {
        List<String> expected = lines(file);
        List<String> found = new ArrayList<>();
        for (String line : expected) {
            String[] parts = line.split("\t", -1);
            TypeKind kind = TypeKind.ofLabel(parts[0]);
            Object value = parts[1].equals("null") ? null : ValueParser.parse(kind, parts[1]);
            ByteSink sink = new ByteSink(16, 1 << 16);
            KeyCodec.append(sink, kind, value, form);
            found.add(parts[0] + "\t" + parts[1] + "\t" + hex(sink));
            Slice golden = Slice.of(HexFormat.of().parseHex(parts[2]));
            assertThat(KeyCodec.length(kind, golden, 0)).as(line).isEqualTo(golden.length());
            ByteSink again = new ByteSink(16, 1 << 16);
            KeyCodec.append(again, kind, KeyCodec.decode(kind, golden, 0), form);
            assertThat(hex(again)).as(line).isEqualTo(parts[2]);
        }
        assertThat(String.join("\n", found)).isEqualTo(String.join("\n", expected));
    }

    @Test
    void recordsAreWrittenAndReadAsEver() throws IOException {
        recordsAreAsIn("records-v1.txt", EVERY_KIND);
    }

    @Test
    void recordsWithArraysAndNestedOnesAreWrittenAndReadAsEver() throws IOException {
        recordsAreAsIn("records-v2.txt", NESTED);
    }

    private static void recordsAreAsIn(String file, RecordType type) throws IOException {
        List<String> expected = lines(file);
        assertThat(expected.getFirst()).isEqualTo(type.toString());
        RecordWriter writer = new RecordWriter(type);
        RecordView view = new RecordView(type);
        List<String> found = new ArrayList<>();
        for (String line : expected.subList(1, expected.size())) {
            String[] parts = line.split("\t", -1);
            byte[] json = parts[0].getBytes(StandardCharsets.UTF_8);
            byte[] written = writer.writeJson(Slice.of(json)).toByteArray();
            found.add(parts[0] + "\t" + HexFormat.of().formatHex(written));
            view.wrap(Slice.of(HexFormat.of().parseHex(parts[1]))).check();
            ByteSink sink = new ByteSink(16, 1 << 16);
            view.toJson(sink);
            // a record keeps the sign of a zero that it was given, and shows the one value that it
            // is
            assertThat(sink.asSlice(new Slice()).toUtf8())
                    .isEqualTo(parts[0].replace(":-0.0,", ":0.0,"));
        }
        assertThat(String.join("\n", found))
                .isEqualTo(String.join("\n", expected.subList(1, expected.size())));
    }

    @Test
    void aRecordOfAShorterTypeIsReadWithTheNewFieldsMissing() {
        RecordType older = RecordType.builder()
                .field("id", "int64")
                .field("name", "string?")
                .build();
        RecordType newer = RecordType.builder()
                .field("id", "int64")
                .field("name", "string?")
                .field("note", "string?")
                .field("place", "point?")
                .build();
        byte[] json = "{\"id\":1,\"name\":\"x\",\"open\":2}".getBytes(StandardCharsets.UTF_8);
        Slice record = new RecordWriter(older).writeJson(Slice.of(json));
        RecordView view = new RecordView(newer).wrap(record);
        view.check();
        assertThat(view.isMissing(2)).isTrue();
        assertThat(view.isMissing(3)).isTrue();
        @Nullable Object open = view.get("open");
        assertThat(open).isEqualTo(2L);
        assertThat(view.get("name")).isEqualTo("x");
    }

    @Test
    void theDescriptorsTableIsWhereTheFieldsAre() {
        // the table in RecordFormat's Javadoc
        assertThat(RecordFormat.VERSION_OFFSET).isEqualTo(0);
        assertThat(RecordFormat.FLAGS_OFFSET).isEqualTo(1);
        assertThat(RecordFormat.FIELD_COUNT_OFFSET).isEqualTo(2);
        assertThat(RecordFormat.OPEN_OFFSET_OFFSET).isEqualTo(4);
        assertThat(RecordFormat.HEADER_BYTES).isEqualTo(8);
    }
}
