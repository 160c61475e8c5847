package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.format.FileHeader;
import io.turbidite.feeds.command.Main;
import io.turbidite.feeds.command.StoreServer;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.backup.CopyMode;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** {@code ./turbidite upgrade} on an archived store. */
class UpgradeCommandTest {
    @TempDir
    private Path directory;

    private Path store = Path.of("");

    private record Result(int code, String out, String err) {}

    private static Result run(Object... words) {
        String[] arguments = new String[words.length];
        for (int i = 0; i < words.length; i++) {
            arguments[i] = words[i].toString();
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code = Main.run(
                arguments,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        return new Result(
                code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    @BeforeEach
    void unpack() throws IOException {
        store = directory.resolve("store");
        GoldenStoreTest.unzip("golden/filters-v3.zip", store);
    }

    @Test
    void files_are_listed_then_rewritten() throws IOException {
        Result listed = run("upgrade", store, "--check");
        assertThat(listed.err()).isEmpty();
        assertThat(listed.code()).isZero();
        assertThat(listed.out())
                .containsPattern("MANIFEST +manifest 13, would be \\d+")
                .containsPattern("data/\\w+.component +component 2, would be \\d+")
                .containsPattern("log/\\w+.log +log-segment 3\\n")
                .containsPattern("\\n7 files are of an older format, .*: ./turbidite upgrade /");
        assertThat(Files.exists(store.resolve("LOCK"))).isTrue();

        Result done = run("upgrade", store, "--json");
        assertThat(done.err()).isEmpty();
        assertThat(done.out()).startsWith("{\"rewritten\":7,").endsWith("\"left\":[]}\n");
        assertThat(run("upgrade", store).out())
                .isEqualTo("nothing to do: all files are of the formats of this release\n");
        assertThat(run("upgrade", store, "--check").out())
                .containsPattern("\\nall \\d+ files are of the formats of this release\\n$");
        assertThat(run("verify", store).out()).startsWith("ok: ");
    }

    @Test
    void the_process_that_holds_the_store_upgrades_it_for_others() {
        try (Store held = Store.openExisting(store, GoldenRows.options());
                StoreServer server = StoreServer.start(held)) {
            assertThat(server.problem()).isEmpty();
            assertThat(held.formats()).anyMatch(file -> file.isOutdated());
            Result done = run("upgrade", store);
            assertThat(done.err()).isEmpty();
            assertThat(done.out()).contains(" files rewritten, ");
            assertThat(held.formats()).noneMatch(file -> file.isOutdated());
        }
    }

    @Test
    void a_backup_is_asked_without_being_opened() {
        Path backup = directory.resolve("backup");
        try (Store held = Store.openExisting(store, GoldenRows.options())) {
            held.backup(backup, CopyMode.COPY);
        }
        assertThat(run("upgrade", backup, "--check").out()).contains("component 2, would be ");
        assertThat(run("restore", backup, directory.resolve("restored")).code()).isZero();
    }

    @Test
    void what_a_newer_release_wrote_is_refused_with_what_is_needed() throws IOException {
        RealDisk disk = RealDisk.open(store);
        try (DiskFile manifest = disk.open("MANIFEST")) {
            FileHeader was = FileHeader.readFrom(manifest);
            new FileHeader(was.format(), 999, was.flags(), was.storeId(), was.fileId())
                    .writeTo(manifest);
        }
        byte[] before = Files.readAllBytes(store.resolve("MANIFEST"));
        for (Result refused :
                new Result[] {run("upgrade", store), run("upgrade", store, "--check")}) {
            assertThat(refused.code()).isEqualTo(1);
            assertThat(refused.err())
                    .contains("MANIFEST is manifest version 999; this release reads version ")
                    .contains("open it with a newer release");
        }
        assertThat(run("upgrade", store, "--check").out())
                .contains("manifest 999, which this release can't read");
        assertThat(Files.readAllBytes(store.resolve("MANIFEST"))).isEqualTo(before);
    }

    @Test
    void what_is_no_store_is_told() {
        Result none = run("upgrade", directory, "--check");
        assertThat(none.code()).isEqualTo(2);
        assertThat(none.err()).contains("is not a store: it has no manifest");
        assertThat(run("upgrade", directory.resolve("none"), "--check").code()).isEqualTo(2);
    }
}
