package io.turbidite.it.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;

/** A store is as large as {@code docs/sizing.md} says. */
class SizingTest {
    private static final Path PAGE = Objects.requireNonNull(
                    Path.of("").toAbsolutePath().getParent())
            .resolve("docs/sizing.md");
    private static final int RECORDS = 30_000;
    private static final int TEXT_BYTES = 470;
    private static final int KEY_BYTES = 12;

    @TempDir
    private Path directory;

    /** As the page has it. */
    private static double primary(double records, double recordBytes) {
        return records * (recordBytes + 8) * 1.1;
    }

    private static double secondary(double records, double keyBytes) {
        return records * (keyBytes + 8) * 1.1;
    }

    @Test
    void components_take_what_the_formula_says() throws IOException {
        Random random = new Random(19);
        long withoutIndexes = load("plain", random, false);
        long withIndexes = load("indexed", random, true);
        double recordBytes = TEXT_BYTES + 2.0 * KEY_BYTES + 8 + 8;
        assertThat((double) withoutIndexes)
                .isBetween(
                        0.85 * primary(RECORDS, recordBytes), primary(RECORDS, recordBytes) * 1.05);
        assertThat((double) withIndexes - withoutIndexes)
                .isBetween(
                        0.75 * 2 * secondary(RECORDS, KEY_BYTES),
                        2 * secondary(RECORDS, KEY_BYTES) * 1.05);
    }

    /** Loads records, merges them, and gives the bytes of all component files. */
    private long load(String name, Random random, boolean indexed) throws IOException {
        Path home = directory.resolve(name);
        DatasetSpec spec = DatasetSpec.named("Rows")
                .field("id", "int64")
                .field("first", "string")
                .field("second", "string")
                .field("text", "string")
                .primaryKey("id");
        if (indexed) {
            spec.index(IndexSpec.btree("by_first", "first"))
                    .index(IndexSpec.btree("by_second", "second"));
        }
        try (Store store = Store.open(home)) {
            Dataset rows = store.openDataset(spec);
            for (long id = 0; id < RECORDS; id++) {
                var _ = rows.upsertAsync(Map.of(
                        "id", id,
                        "first", letters(random, KEY_BYTES),
                        "second", letters(random, KEY_BYTES),
                        "text", letters(random, TEXT_BYTES)));
            }
            rows.flush();
            rows.mergeAll();
        }
        try (Stream<Path> files = Files.walk(home)) {
            return files.filter(file -> file.toString().endsWith(".component"))
                    .mapToLong(SizingTest::size)
                    .sum();
        }
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String letters(Random random, int count) {
        StringBuilder text = new StringBuilder(count);
        for (int i = 0; i < count; i++) {
            text.append((char) ('a' + random.nextInt(26)));
        }
        return text.toString();
    }

    @Test
    void the_example_is_reckoned_right() throws IOException {
        double records = 100e6;
        double all = primary(records, 500);
        double indexes = 2 * secondary(records, 12);
        assertThat(Files.readString(PAGE).replaceAll("\\s+", " "))
                .contains(String.format(
                        Locale.ROOT,
                        "%.1f GB for records, %.1f GB for both secondaries",
                        all / 1e9,
                        indexes / 1e9))
                .contains(String.format(Locale.ROOT, "log: %.1f GB", (all + indexes) / 1e9 + 0.5));
    }
}
