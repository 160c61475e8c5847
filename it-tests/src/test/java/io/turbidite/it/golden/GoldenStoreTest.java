package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.FormatVersionException;
import io.turbidite.core.log.LogOptions;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.check.StoredFormat;
import io.turbidite.lsm.check.UpgradeReport;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.Compression;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * A store that is kept as it was once written: components of two flushes, one of them with deletes,
 * and operations that are in the log alone. {@code -Dgolden.write=true} writes the archive anew,
 * which only a new format version may need. Archives of versions before 1.0 stay, and are refused.
 */
class GoldenStoreTest {
    private static final String FIRST = "golden/store-v1.zip";
    private static final String ARCHIVE = "golden/store-v2.zip";

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(256 << 10, 16, 256, 64 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(1 << 20, log);
    }

    @Test
    void the_archived_store_opens_and_gives_what_was_written(@TempDir Path directory)
            throws IOException {
        if (Boolean.getBoolean("golden.write")) {
            write(directory.resolve("new"));
            zip(directory.resolve("new"), Path.of("src/test/resources").resolve(ARCHIVE));
        }
        Path store = directory.resolve("store");
        unzip(ARCHIVE, store);
        check(store);
        // what the first opening left behind opens again
        check(store);
    }

    @Test
    void the_archived_store_is_upgraded(@TempDir Path directory) throws IOException {
        Path store = directory.resolve("store");
        unzip(ARCHIVE, store);
        try (Store open = Store.openExisting(store, options())) {
            upgrade(open, true);
        }
        check(store);
    }

    /**
     * Of old formats there is nothing behind.
     *
     * @param isOld whether there is something before
     */
    static void upgrade(Store store, boolean isOld) {
        List<StoredFormat> before = outdated(store);
        assertThat(before.isEmpty()).isEqualTo(!isOld);
        UpgradeReport report = store.upgrade();
        assertThat(report.left()).isEmpty();
        // a merge in the background may have come first and rewritten some
        assertThat(report.rewritten()).isBetween(isOld ? 1 : 0, before.size());
        assertThat(report.bytes())
                .isLessThanOrEqualTo(
                        before.stream().mapToLong(StoredFormat::bytes).sum());
        assertThat(outdated(store)).isEmpty();
        assertThat(store.upgrade().rewritten()).isZero();
    }

    private static List<StoredFormat> outdated(Store store) {
        return store.formats().stream().filter(StoredFormat::isOutdated).toList();
    }

    @Test
    void a_store_of_the_first_format_is_refused_with_both_versions(@TempDir Path store)
            throws IOException {
        unzip(FIRST, store);
        assertThatThrownBy(() -> Store.openExisting(store, options()).close())
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("MANIFEST is manifest version 1")
                .hasMessageMatching(".*this release reads version \\d+: .*");
        assertThat(Store.formats(store)).singleElement().satisfies(manifest -> {
            assertThat(manifest.file()).isEqualTo("MANIFEST");
            assertThat(manifest.version()).isEqualTo(1);
            assertThat(manifest.isReadable()).isFalse();
        });
    }

    private static void write(Path directory) {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Golden")
                    .field("id", "int64")
                    .field("name", "string?")
                    .field("at", "datetime")
                    .field("place", "point?")
                    .primaryKey("id")
                    .filter("at")
                    .partitions(2)
                    .components(ComponentOptions.primary()
                            .withPageBytes(4 << 10)
                            .withCompression(Compression.LZ4))
                    .index(IndexSpec.btree("by_name", "name")));
            for (long id = 0; id < 300; id++) {
                dataset.upsertJson(json(id, "first"));
            }
            dataset.flush();
            for (long id = 0; id < 300; id += 3) {
                dataset.delete(id);
            }
            for (long id = 1; id < 300; id += 3) {
                dataset.upsertJson(json(id, "second"));
            }
            dataset.flush();
            dataset.upsertJson(json(1_000, "log"));
            dataset.delete(2L);
        }
    }

    private static String json(long id, String name) {
        return """
                {"id":%d,"name":"%s","at":"2013-07-04T00:00:%02dZ","place":[%d,0.5],"open":{"n":[%d,null]}}""".formatted(id, name, id % 60, id, id);
    }

    private static void check(Path directory) {
        try (Store store = Store.openExisting(directory, options())) {
            Dataset dataset = store.dataset("Golden");
            assertThat(dataset.get(0L)).isNull();
            assertThat(dataset.get(2L)).isNull();
            Map<String, ?> changed = Objects.requireNonNull(dataset.get(4L));
            assertThat(changed.get("name")).isEqualTo("second");
            assertThat(changed.get("open")).hasToString("{n=[4, null]}");
            assertThat(count(dataset, "first")).isEqualTo(99);
            assertThat(count(dataset, "second")).isEqualTo(100);
            assertThat(count(dataset, "log")).isEqualTo(1);
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    private static long count(Dataset dataset, String name) {
        try (QueryResult result =
                Query.on(dataset).where(Predicates.eq("name", name)).count().run()) {
            return result.count();
        }
    }

    static void zip(Path directory, Path archive) throws IOException {
        Files.createDirectories(Objects.requireNonNull(archive.getParent()));
        try (OutputStream file = Files.newOutputStream(archive);
                ZipOutputStream out = new ZipOutputStream(file);
                Stream<Path> walk = Files.walk(directory)) {
            List<Path> files = walk.filter(Files::isRegularFile).sorted().toList();
            for (Path one : files) {
                out.putNextEntry(new ZipEntry(directory.relativize(one).toString()));
                Files.copy(one, out);
                out.closeEntry();
            }
        }
    }

    static void unzip(String name, Path directory) throws IOException {
        try (InputStream archive =
                        Files.newInputStream(Path.of("src/test/resources").resolve(name));
                ZipInputStream in = new ZipInputStream(archive)) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                Path target = directory.resolve(entry.getName()).normalize();
                assertThat(target.startsWith(directory)).isTrue();
                Files.createDirectories(Objects.requireNonNull(target.getParent()));
                Files.copy(in, target);
            }
        }
    }
}
