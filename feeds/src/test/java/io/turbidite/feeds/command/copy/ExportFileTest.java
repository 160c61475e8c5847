package io.turbidite.feeds.command.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;

/** A file that is there whole or not at all. */
class ExportFileTest {
    private final SimDisk disk = new SimDisk(7, Profile.STRICT);

    @Test
    void a_full_disk_says_so_and_nothing_is_left() {
        disk.capacity(1 << 20);
        try (ExportFile file = ExportFile.create(disk, "e.csv")) {
            assertThat(disk.files()).containsExactly("e.csv.partial");
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            file.write(new byte[100_000]);
                        }
                    })
                    .isInstanceOfSatisfying(
                            StorageIoException.class,
                            e -> assertThat(e.kind()).isEqualTo(StorageIoException.Kind.NO_SPACE));
        }
        assertThat(disk.files()).isEmpty();
    }

    @Test
    void a_finished_file_is_durable_whole_and_replaces_nothing() {
        byte[] content = new byte[700_001];
        content[700_000] = 1;
        try (ExportFile file = ExportFile.create(disk, "e.csv")) {
            file.write(content, 0, 700_000);
            file.write(1);
            file.finish();
        }
        assertThat(disk.crashImage(3).content("e.csv")).isEqualTo(content);
        assertThatThrownBy(() -> ExportFile.create(disk, "e.csv").close())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("is there already");
        try (ExportFile late = ExportFile.create(disk, "f.csv")) {
            disk.put("f.csv", new byte[] {9});
            assertThatThrownBy(late::finish).isInstanceOf(InvalidRequestException.class);
        }
        assertThat(disk.files()).containsExactlyInAnyOrder("e.csv", "f.csv");
        assertThat(disk.content("f.csv")).containsExactly(9);
    }
}
