package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Nothing of what statements spill stays: not on a full disk, nor of a killed process. */
@Timeout(120)
class SpillLeftTest {
    private static final long SEED = Seeds.of("SpillLeftTest");
    private static final int RECORDS = 6_000;

    private static void fill(Store store) {
        Dataset dataset = store.createDataset(DatasetSpec.named("N")
                .field("id", "int64")
                .field("other", "int64")
                .field("text", "string")
                .primaryKey("id"));
        for (long i = 0; i < RECORDS; i++) {
            dataset.upsert(
                    Map.of("id", i, "other", (i * 7_919) % RECORDS, "text", "%050d".formatted(i)));
        }
    }

    private static List<Map<String, @Nullable Object>> rows(Store store, String statement) {
        RunOptions options = RunOptions.defaults().withMemoryBytesMax(64 << 10);
        try (QueryResult rows =
                Sql.on(StoreCatalog.of(store, false)).statement(statement).run(options)) {
            return rows.toList();
        }
    }

    @Test
    void a_disk_that_is_full_ends_a_statement_and_leaves_nothing() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        SimClock clock = new SimClock();
        StoreOptions options = StoreOptions.defaults()
                .withWriteMemoryBytes(16 << 20)
                .withCacheBytes(4 << 20)
                .withDurability(Durability.PROCESS);
        try (Store store = Store.open(disk, new SimTasks(SEED, clock), clock, options)) {
            fill(store);
            for (String statement : List.of(
                    "select text from N order by other",
                    "select a.text, b.text as two from N a join N b on a.id = b.other",
                    "select a.id from N a left join N b on a.other = b.other and b.text > ''",
                    "select text, count(*) as n, max(other) as m from N group by text",
                    "select distinct text from N",
                    "select text from N except select text from N where id < 10",
                    "select text, row_number() over (partition by other order by id) as n from N",
                    "select array_agg(text order by other) as t from N group by id")) {
                for (int call : new int[] {1, 2}) {
                    FaultScript full = FaultScript.with(Fault.ENOSPC)
                            .on(OperationKind.WRITE)
                            .named(name -> name.startsWith(StoreFiles.SPILL + "/"))
                            .call(call)
                            .forever();
                    disk.fault(full);
                    assertThat(catchThrowable(() -> rows(store, statement)))
                            .as("%s, call %d", statement, call)
                            .isInstanceOfSatisfying(
                                    StorageIoException.class,
                                    e -> assertThat(e.kind())
                                            .isEqualTo(StorageIoException.Kind.NO_SPACE));
                    disk.clearFaults();
                    assertThat(disk.files())
                            .as(statement)
                            .noneMatch(name -> name.startsWith(StoreFiles.SPILL + "/"));
                }
                assertThat(rows(store, statement)).as(statement).hasSizeGreaterThanOrEqualTo(10);
            }
            assertThat(rows(store, "select count(*) as n from N"))
                    .containsExactly(Map.of("n", (long) RECORDS));
        }
    }

    @Test
    void what_a_killed_process_spilled_is_gone_at_the_next_opening(@TempDir Path directory)
            throws IOException {
        StoreOptions options = StoreOptions.defaults().withDurability(Durability.BUFFERED);
        try (Store store = Store.open(directory, options)) {
            fill(store);
        }
        Path spill = Files.createDirectories(directory.resolve(StoreFiles.SPILL));
        Files.writeString(spill.resolve("7-1.tmp"), "rows of a sort");
        Files.writeString(spill.resolve("other"), "");
        try (Store store = Store.open(directory, options)) {
            assertThat(spill).isEmptyDirectory();
            assertThat(rows(store, "select id from N order by text")).hasSize(RECORDS);
            assertThat(spill).isEmptyDirectory();
        }
    }
}
