package io.turbidite.lsm.merge;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;

/**
 * The pictures in the documentation are what the policies do. {@code -Dpictures.write=true} draws
 * them anew.
 */
class MergePicturesTest {
    /** The repository's {@code docs}, whether the test runs in the module or above it. */
    private static Disk docs() {
        Path directory = Path.of("").toAbsolutePath();
        while (!RealDisk.isDirectory(directory.resolve("docs/images"))) {
            directory = Objects.requireNonNull(directory.getParent(), "no docs/images above here");
        }
        return RealDisk.open(directory.resolve("docs"));
    }

    @Test
    void the_pictures_show_what_the_policies_do() {
        Disk docs = docs();
        MergePictures.all().forEach((picture, svg) -> {
            String name = "images/" + picture;
            byte[] drawn = svg.getBytes(StandardCharsets.UTF_8);
            if (Boolean.getBoolean("pictures.write")) {
                if (docs.exists(name)) {
                    docs.delete(name);
                }
                try (DiskFile file = docs.create(name)) {
                    file.write(0, MemorySegment.ofArray(drawn), 0, drawn.length);
                }
            }
            assertThat(text(docs, name)).as(name).isEqualTo(svg);
        });
    }

    private static String text(Disk docs, String name) {
        try (DiskFile file = docs.openReadOnly(name)) {
            byte[] bytes = new byte[(int) file.size()];
            file.read(0, MemorySegment.ofArray(bytes), 0, bytes.length);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    /** Kinds with their defaults; flushes of 64 MiB. */
    @ParameterizedTest
    @CsvSource({
        "no-merge, `no-merge`",
        "constant, `constant`",
        "prefix, `prefix`",
        "tiering, `tiering`",
        "tiering(mergeableBytesMax=1TiB), '`tiering`, cap 1 TiB'",
        "leveling, `leveling`",
        "lazy-leveling, `lazy-leveling`",
        "concurrent, `concurrent`",
    })
    void the_table_says_what_the_defaults_cost(String spec, String label) {
        StringBuilder row = new StringBuilder("| ").append(label).append(" |");
        for (int flushes : new int[] {160, 1_600, 16_000}) {
            PaperIndex index = new PaperIndex(MergePolicySpec.parse(spec).policy())
                    .flush(flushes, () -> 64L << 20);
            row.append(String.format(
                    Locale.ROOT, " %.1f, %d |", index.writesPerByte(), index.componentsMax()));
        }
        assertThat(text(docs(), "merge-policies.md")).contains(row);
    }
}
