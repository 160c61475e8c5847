package io.turbidite.bench.hashlog;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Newline-delimited records in native memory, with the exact number of matches of each counted PSF.
 * Lives as long as the process.
 *
 * @param source where it is from, for the report
 */
record Corpus(
        Workload workload,
        String source,
        MemorySegment bytes,
        long count,
        Map<String, Long> matches) {
    /** Columns of reviews. */
    static final List<String> CSV_FIELDS = List.of(
            "review_id",
            "user_id",
            "business_id",
            "stars",
            "useful",
            "funny",
            "cool",
            "text",
            "date");

    /** Reads them. */
    static final String CSV_PARSER =
            "csv(\",\", review_id, user_id, business_id, stars:number, useful:number, funny:number, cool:number,"
                    + " text, date)";

    private static final long SEED = 20_190_630;

    /** Made here, {@code megabytes} of it. */
    static Corpus generated(Workload workload, int megabytes) {
        RecordGenerator generator = new RecordGenerator(SEED);
        ByteSink lines = new ByteSink(1 << 20, Integer.MAX_VALUE - 16);
        long count = 0;
        while (lines.length() < megabytes << 20) {
            lines.putBytes(generator.next(workload)).putByte('\n');
            count++;
        }
        Slice all = lines.asSlice(new Slice());
        return new Corpus(
                workload,
                "generated, seed " + SEED,
                copy(all.segment(), all.offset(), all.length()),
                count,
                Map.copyOf(generator.matches()));
    }

    /** From {@code KIND.json} and {@code KIND.json.stats.json} in a directory. */
    static Corpus read(Workload workload, Path directory) throws IOException {
        String kind = workload.kind;
        byte[] content = Files.readAllBytes(directory.resolve(kind + ".json"));
        String statistics = Files.readString(directory.resolve(kind + ".json.stats.json"));
        Map<String, Long> matches = new HashMap<>();
        Matcher matcher = Pattern.compile("\"([^\"]+)\": (\\d+)").matcher(statistics);
        while (matcher.find()) {
            matches.put(matcher.group(1), Long.parseLong(matcher.group(2)));
        }
        long count = matches.getOrDefault("records", -1L);
        return new Corpus(
                workload,
                "%s/%s.json".formatted(directory.getFileName(), kind),
                copy(MemorySegment.ofArray(content), 0, content.length),
                count,
                Map.copyOf(matches));
    }

    /** Reviews as rows, in the order of {@link #CSV_FIELDS}. */
    Corpus asCsv() {
        JsonMapper json = JsonMapper.builder().build();
        ByteSink rows = new ByteSink(1 << 20, Integer.MAX_VALUE - 16);
        try {
            for (long at = 0; at < bytes.byteSize(); ) {
                long end = lineFrom(at + 1);
                byte[] line = bytes.asSlice(at, end - at).toArray(ValueLayout.JAVA_BYTE);
                JsonNode review = json.readTree(line);
                String row = CSV_FIELDS.stream()
                        .map(field -> review.path(field))
                        .map(value -> value.isTextual()
                                ? "\"" + value.asText().replace("\"", "\"\"").replace('\n', ' ')
                                        + "\""
                                : value.asText())
                        .collect(Collectors.joining(","));
                rows.putUtf8(row).putByte('\n');
                at = end;
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        Slice all = rows.asSlice(new Slice());
        return new Corpus(
                workload,
                source + " as CSV",
                copy(all.segment(), all.offset(), all.length()),
                count,
                matches);
    }

    private static MemorySegment copy(MemorySegment from, long offset, long length) {
        MemorySegment bytes = Arena.global().allocate(length, 64);
        MemorySegment.copy(from, offset, bytes, 0, length);
        return bytes;
    }

    /** Where each line begins; the end of the last one, too. */
    long[] lineStarts() {
        long[] starts = new long[(int) count + 1];
        int line = 0;
        for (long at = 0; at < bytes.byteSize(); at++) {
            if (bytes.get(ValueLayout.JAVA_BYTE, at) == '\n') {
                starts[++line] = at + 1;
            }
        }
        return starts;
    }

    /** Where the first line begins at or behind {@code offset}. */
    long lineFrom(long offset) {
        long at = offset;
        while (at > 0
                && at < bytes.byteSize()
                && bytes.get(ValueLayout.JAVA_BYTE, at - 1) != '\n') {
            at++;
        }
        return at;
    }

    /** Where part {@code i} of {@code parts} begins; part {@code parts} is the end. */
    long partFrom(int i, int parts) {
        return i == parts ? bytes.byteSize() : lineFrom(bytes.byteSize() / parts * i);
    }

    long matchesOf(String name) {
        Long found = matches.get(name);
        if (found == null) {
            throw new IllegalStateException("%s has no count of %s".formatted(source, name));
        }
        return found;
    }
}
