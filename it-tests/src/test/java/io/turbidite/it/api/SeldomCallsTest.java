package io.turbidite.it.api;

import static io.turbidite.ops.Predicates.eq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.DuplicateKeyException;
import io.turbidite.feeds.log.LogJoin;
import io.turbidite.feeds.log.OpenLog;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.ship.Shipment;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

class SeldomCallsTest {
    @TempDir
    private Path directory;

    private static Dataset users(Store store) {
        return store.createDataset(DatasetSpec.named("Users")
                .field("id", "int64")
                .field("country", "string?")
                .primaryKey("id"));
    }

    @Test
    void a_json_object_is_inserted_once() {
        try (Store store = Store.open(directory)) {
            Dataset users = users(store);
            users.insertJson("{\"id\": 7, \"country\": \"IS\", \"since\": 2013}");
            assertThatThrownBy(() -> users.insertJson("{\"id\": 7, \"country\": \"FO\"}"))
                    .isInstanceOf(DuplicateKeyException.class);
            assertThat(users.get(7L)).isEqualTo(Map.of("id", 7L, "country", "IS", "since", 2013L));
        }
    }

    @Test
    void what_came_of_a_broken_shipment_is_counted_and_left_out() throws IOException {
        Path target = directory.resolve("target");
        assertThat(Store.receivedCount(target)).isZero();
        try (Store store = Store.open(directory.resolve("store"))) {
            Dataset users = users(store);
            for (long id = 0; id < 2_000; id++) {
                users.upsert(Map.of("id", id, "country", "IS"));
                if (id % 500 == 499) {
                    users.flush();
                }
            }
            try (Shipment shipment = store.openShipment()) {
                byte[] all = sent(shipment, 0);
                assertThatThrownBy(() -> Store.receive(
                                new ByteArrayInputStream(Arrays.copyOf(all, all.length - 1)),
                                target))
                        .isInstanceOf(CorruptionException.class);
                int present = Store.receivedCount(target);
                assertThat(present).isPositive();
                byte[] rest = sent(shipment, present);
                assertThat(rest).hasSizeLessThan(all.length);
                assertThat(Store.receive(new ByteArrayInputStream(rest), target).kept())
                        .isEqualTo(present);
            }
        }
        try (Store received = Store.open(target)) {
            assertThat(received.dataset("Users").get(1_999L)).containsEntry("country", "IS");
        }
    }

    private static byte[] sent(Shipment shipment, int present) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        var _ = shipment.writeTo(out, present);
        return out.toByteArray();
    }

    @Test
    void a_join_counts_what_it_found_and_what_has_a_match() {
        byte[] lines = """
                {"id":1,"type":"PushEvent","actor":{"id":7}}
                {"id":2,"type":"ForkEvent","actor":{"id":7}}
                {"id":3,"type":"PushEvent","actor":{"id":8}}
                {"id":4,"type":"PushEvent","actor":{"id":9}}
                """.getBytes(StandardCharsets.UTF_8);
        try (Store store = Store.open(directory.resolve("store"));
                OpenLog open = OpenLog.openOrCreate(directory.resolve("log"), OpenLog.defaults());
                IngestSession session = open.log().openSession("loader")) {
            Dataset users = users(store);
            users.upsert(Map.of("id", 7L, "country", "IS"));
            users.upsert(Map.of("id", 8L, "country", "FO"));
            open.log().register("type", PsfDefinition.parse("field(type)"));
            session.ingest(MemorySegment.ofArray(lines), 0, lines.length);
            session.awaitDurable();
            LogJoin.Match match = new LogJoin.Match(
                    users, List.of("actor.id"), List.of(eq("country", "IS")), false);
            try (LogJoin join = LogJoin.open(
                    open.log(),
                    LogQuery.property("type", "PushEvent"),
                    match,
                    RunOptions.defaults())) {
                int rows = 0;
                while (join.next()) {
                    rows++;
                }
                assertThat(rows).isEqualTo(1);
                assertThat(join.foundCount()).isEqualTo(3);
                assertThat(join.matchedCount()).isEqualTo(1);
            }
        }
    }
}
