package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.backup.CopyMode;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Two stores and two processes in one history: whoever holds a store writes it, the other is
 * refused; what is of one store is refused by the other; the other process is killed at times. Two
 * plain maps know what must be there.
 */
class TwoStoresTest {
    private static final long SEED = Seeds.of("TwoStoresTest");
    private static final int STEPS = Tier.count(60, 200, 3_000);
    private static final int KEY_COUNT = 40;

    /** A restart of the other process costs a JVM: a kill is that rare. */
    private static final int KILL_STRIDE = 40;

    @TempDir
    Path directory;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final List<Side> sides = new ArrayList<>();
    private @Nullable Child child;
    private long lastVersion;
    private int refusedCount;
    private int backupCount;

    /** One of the stores, who holds it, and what it must have. */
    private static final class Side {
        final String name;
        final Path path;
        final Map<Long, Long> versions = new TreeMap<>();

        @Nullable
        Store store;

        boolean isChilds;

        /** Written by the other process when it was killed: it may be there or not. */
        long unsureId = -1;

        long unsureVersion;

        Side(String name, Path path) {
            this.name = name;
            this.path = path;
        }

        boolean isHeld() {
            return store != null || isChilds;
        }

        Store held() {
            return Objects.requireNonNull(store);
        }

        void put(long id, long version) {
            versions.put(id, version);
        }

        long version(long id) {
            return versions.getOrDefault(id, 0L);
        }
    }

    /** The other process. */
    private static final class Child {
        final Process process;
        final PrintStream commands;
        final BufferedReader answers;

        Child() throws IOException {
            process = new ProcessBuilder(List.of(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-XX:+UseSerialGC",
                            "-Xshare:auto",
                            "-cp",
                            System.getProperty("java.class.path"),
                            OtherProcess.class.getName()))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
            answers = new BufferedReader(
                    new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        }

        void say(Object... words) {
            List<String> line = new ArrayList<>();
            for (Object word : words) {
                line.add(word.toString());
            }
            commands.print(String.join("\t", line) + "\n");
            commands.flush();
        }

        String ask(Object... words) throws IOException {
            say(words);
            return Objects.requireNonNull(answers.readLine(), "the other process has died");
        }
    }

    @BeforeEach
    void makeSides() {
        sides.add(new Side("one", directory.resolve("one")));
        sides.add(new Side("other", directory.resolve("other")));
    }

    /** Also where the history failed. */
    @AfterEach
    void end() throws InterruptedException {
        if (child != null) {
            child.process.destroyForcibly().waitFor();
        }
        for (Side side : sides) {
            if (side.store != null) {
                side.store.close();
            }
        }
    }

    @Test
    @Timeout(value = 1_200, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void both_stores_hold_what_was_acknowledged_to_whom_they_were_open()
            throws IOException, InterruptedException {
        for (int step = 0; step < STEPS; step++) {
            String as = "step %d; %s".formatted(step, Seeds.replay("TwoStoresTest", SEED));
            Side side = sides.get(random.nextInt(2));
            if (step % KILL_STRIDE == KILL_STRIDE - 1) {
                kill(as);
            } else if (!side.isHeld()) {
                open(side, as);
            } else if (side.isChilds) {
                childsStep(side, as);
            } else {
                ownStep(side, as);
            }
        }
        kill("at last");
        for (Side side : sides) {
            close(side);
            openOwn(side, "at last");
            check(side, side.held(), "at last");
            close(side);
        }
        System.out.printf(
                "TwoStoresTest: %d steps, %d refused, %d backups%n",
                STEPS, refusedCount, backupCount);
        assertThat(refusedCount).isPositive();
        assertThat(backupCount).isPositive();
    }

    // ---- opening
    // ---------------------------------------------------------------------------------

    private void open(Side side, String as) throws IOException {
        if (random.nextBoolean()) {
            openOwn(side, as);
        } else {
            assertThat(other().ask("open", side.name, side.path)).as(as).startsWith("ok");
            side.isChilds = true;
            settle(side, Long.parseLong(get(side, Math.max(0, side.unsureId), as)), as);
        }
    }

    private void openOwn(Side side, String as) {
        Store store = Store.open(side.path, OtherProcess.options());
        side.store = store;
        long at = Math.max(0, side.unsureId);
        settle(side, OtherProcess.version(OtherProcess.dataset(store), at), as);
    }

    /** The one write that was not answered is there or not, from now on for good. */
    private static void settle(Side side, long found, String as) {
        if (side.unsureId >= 0) {
            assertThat(found).as(as).isIn(side.unsureVersion, side.version(side.unsureId));
            side.put(side.unsureId, found);
            side.unsureId = -1;
        }
    }

    private static void close(Side side) {
        Store store = side.store;
        if (store != null) {
            side.store = null;
            store.close();
        }
    }

    // ---- the other process
    // -----------------------------------------------------------------------

    private Child other() throws IOException {
        if (child == null) {
            child = new Child();
        }
        return child;
    }

    private String get(Side side, long id, String as) throws IOException {
        String answer = other().ask("get", side.name, id);
        assertThat(answer).as(as).startsWith("ok\t");
        return answer.substring(3);
    }

    private void childsStep(Side side, String as) throws IOException {
        switch (random.nextInt(10)) {
            case 0 -> {
                assertThat(other().ask("close", side.name)).as(as).startsWith("ok");
                side.isChilds = false;
            }
            case 1 -> assertThat(other().ask("flush", side.name)).as(as).startsWith("ok");
            case 2, 3 -> {
                assertThatThrownBy(() -> Store.open(side.path, OtherProcess.options()))
                        .as(as)
                        .isInstanceOf(StoreInUseException.class)
                        .hasMessageEndingWith("in use by another process");
                assertThatThrownBy(() -> Store.openForReading(side.path, OtherProcess.options()))
                        .as(as)
                        .isInstanceOf(StoreInUseException.class);
                refusedCount += 2;
            }
            case 4, 5 -> {
                long id = random.nextInt(KEY_COUNT);
                assertThat(get(side, id, as)).as(as).isEqualTo(Long.toString(side.version(id)));
            }
            default -> {
                long id = random.nextInt(KEY_COUNT);
                long version = nextVersion();
                assertThat(other().ask("write", side.name, id, version)).as(as).startsWith("ok");
                side.put(id, version);
            }
        }
    }

    /** One in five writes is a deletion. */
    private long nextVersion() {
        return random.nextInt(5) == 0 ? 0 : ++lastVersion;
    }

    /** Kills the other process while it writes to whatever it holds. */
    private void kill(String as) throws IOException, InterruptedException {
        Child killed = child;
        if (killed == null) {
            return;
        }
        List<Side> held = sides.stream().filter(side -> side.isChilds).toList();
        int count = held.isEmpty() ? 0 : random.nextInt(20);
        List<Runnable> writes = new ArrayList<>();
        List<Runnable> unsure = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Side side = held.get(random.nextInt(held.size()));
            long id = random.nextInt(KEY_COUNT);
            long version = nextVersion();
            killed.say("write", side.name, id, version);
            writes.add(() -> side.put(id, version));
            unsure.add(() -> {
                side.unsureId = id;
                side.unsureVersion = version;
            });
        }
        int answered = 0;
        for (int wait = count == 0 ? 0 : random.nextInt(count); answered < wait; answered++) {
            assertThat(killed.answers.readLine()).as(as).startsWith("ok");
            writes.get(answered).run();
        }
        // through the handle: Process.destroyForcibly would close the pipe and lose lines
        assertThat(killed.process.toHandle().destroyForcibly()).as(as).isTrue();
        for (String line = killed.answers.readLine(); line != null; ) {
            assertThat("ok\t").as(as).startsWith(line);
            if (line.equals("ok\t")) {
                writes.get(answered++).run();
            } // else the kill cut the line short
            line = killed.answers.readLine();
        }
        if (answered < count) {
            unsure.get(answered).run();
        }
        killed.process.waitFor();
        child = null;
        held.forEach(side -> side.isChilds = false);
    }

    // ---- this process
    // ----------------------------------------------------------------------------

    private void ownStep(Side side, String as) throws IOException {
        Store store = side.held();
        Dataset dataset = OtherProcess.dataset(store);
        switch (random.nextInt(16)) {
            case 0 -> close(side);
            case 1 -> dataset.flush();
            case 2 -> dataset.mergeAll();
            case 3, 4 -> {
                assertThat(other().ask("open", side.name, side.path))
                        .as(as)
                        .startsWith("refused\tStoreInUseException");
                refusedCount++;
            }
            case 5, 6 -> mixUp(side, as);
            case 7 -> backup(side, as);
            case 8 -> check(side, store, as);
            case 9, 10 -> writeBatch(side, dataset);
            default -> {
                long id = random.nextInt(KEY_COUNT);
                long version = nextVersion();
                OtherProcess.write(dataset, id, version);
                side.put(id, version);
            }
        }
    }

    private void writeBatch(Side side, Dataset dataset) {
        Map<Long, Long> written = new TreeMap<>();
        WriteBatch batch = side.held().newBatch();
        for (int i = random.nextInt(1, 6); i > 0; i--) {
            long id = random.nextInt(KEY_COUNT);
            long version = ++lastVersion;
            batch.upsert(dataset, record(dataset, id, version));
            written.put(id, version);
        }
        side.held().write(batch);
        written.forEach(side::put);
    }

    private static Slice record(Dataset dataset, long id, long version) {
        return dataset.newRecordWriter().write(Map.of("id", id, "version", version));
    }

    /** What is of the one store is given to the other, if it is this process's too. */
    private void mixUp(Side side, String as) {
        Side far = sides.get(side.name.equals("one") ? 1 : 0);
        Store farStore = far.store;
        if (farStore == null) {
            return;
        }
        Store own = side.held();
        Dataset dataset = OtherProcess.dataset(own);
        Dataset farDataset = OtherProcess.dataset(farStore);
        long id = random.nextInt(KEY_COUNT);
        Slice record = record(farDataset, id, Long.MAX_VALUE);
        WriteBatch mixed = own.newBatch().upsert(dataset, record(dataset, id, Long.MAX_VALUE));
        refused(() -> mixed.upsert(farDataset, record), as);
        refused(
                () -> mixed.delete(
                        farDataset, Slice.of(farDataset.primaryKeySpec().encode(id))),
                as);
        refused(() -> farStore.write(mixed), as);
        refused(() -> own.write(farStore.newBatch().upsert(farDataset, record)), as);
        refused(() -> own.requireOwn(farDataset), as);
        try (Snapshot snapshot = own.openSnapshot()) {
            refused(() -> snapshot.view(farDataset).close(), as);
        }
        assertThat(OtherProcess.version(dataset, id)).as(as).isEqualTo(side.version(id));
        assertThat(OtherProcess.version(farDataset, id)).as(as).isEqualTo(far.version(id));
    }

    private void refused(Runnable call, String as) {
        assertThatThrownBy(call::run).as(as).isInstanceOf(InvalidRequestException.class);
        refusedCount++;
    }

    /** Into a third directory; into the other store's it is refused. */
    private void backup(Side side, String as) {
        Side far = sides.get(side.name.equals("one") ? 1 : 0);
        if (far.isHeld()) {
            refused(() -> side.held().backup(far.path, CopyMode.COPY), as);
        }
        Path third = directory.resolve("backup" + backupCount++);
        side.held().backup(third, CopyMode.LINK_OR_COPY);
        try (Store copy = Store.open(third, OtherProcess.options())) {
            check(side, copy, "backup, " + as);
            // the copy is a store of its own: what is written there stays there
            OtherProcess.write(OtherProcess.dataset(copy), 0, Long.MAX_VALUE);
        }
        check(side, side.held(), as);
    }

    private static void check(Side side, Store store, String as) {
        Dataset dataset = OtherProcess.dataset(store);
        int present = 0;
        for (long id = 0; id < KEY_COUNT; id++) {
            assertThat(OtherProcess.version(dataset, id))
                    .as("%s %d, %s", side.name, id, as)
                    .isEqualTo(side.version(id));
            present += side.version(id) == 0 ? 0 : 1;
        }
        int found = 0;
        try (ReadView view = dataset.openView()) {
            for (int p = 0; p < view.partitionCount(); p++) {
                try (IndexCursor cursor =
                        view.search(p, "by_version", KeyRange.all(), FilterPredicate.none())) {
                    while (cursor.next()) {
                        found++;
                    }
                }
            }
        }
        assertThat(found).as("index of %s, %s", side.name, as).isGreaterThanOrEqualTo(present);
        assertThat(store.verify().errors()).as(as).isEmpty();
    }
}
