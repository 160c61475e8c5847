package io.turbidite.lsm.harness;

import io.turbidite.lsm.harness.Oracle.Change;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Draws what happens to a store; looks at none. <em>Confined to one thread.</em> */
final class StepDraw {
    private final SplittableRandom random;
    private final int keyCount;

    StepDraw(SplittableRandom random, int keyCount) {
        this.random = random;
        this.keyCount = keyCount;
    }

    Row row(long id) {
        return new Row(
                id,
                random.nextInt(8) == 0 ? null : "user" + random.nextInt(20),
                random.nextInt(8) == 0 ? null : random.nextInt(-5, 5),
                random.nextInt(20) == 0 ? null : Instant.ofEpochSecond(random.nextInt(1_000_000)),
                random.nextInt(2) == 0
                        ? "x".repeat(random.nextInt(60)) + random.nextInt()
                        : Texts.text(random));
    }

    long id() {
        return random.nextInt(keyCount);
    }

    String dataset() {
        return random.nextInt(4) == 0 ? Workload.BLIND : Workload.INDEXED;
    }

    Step.Write write() {
        int dice = random.nextInt(100);
        String name = dataset();
        if (dice < 60) {
            return one(Step.Way.UPSERT, name, row(id()));
        } else if (dice < 72) {
            return one(Step.Way.INSERT, name, row(id()));
        } else if (dice < 86) {
            return new Step.Write(Step.Way.DELETE, List.of(new Change(name, id(), null)));
        }
        List<Change> changes = new ArrayList<>();
        int size = 1 + random.nextInt(12);
        for (int i = 0; i < size; i++) {
            String dataset = dataset();
            if (random.nextInt(4) == 0) {
                changes.add(new Change(dataset, id(), null));
            } else {
                Row row = row(id());
                changes.add(new Change(dataset, row.id(), row));
            }
        }
        return new Step.Write(Step.Way.BATCH, changes);
    }

    private static Step.Write one(Step.Way way, String dataset, Row row) {
        return new Step.Write(way, List.of(new Change(dataset, row.id(), row)));
    }

    /** Work in the background that somebody asks for; most times null, for none. */
    @Nullable
    Step disturbance() {
        int dice = random.nextInt(100);
        String dataset = dataset();
        if (dice < 4) {
            return new Step.Flush(dataset);
        } else if (dice < 5) {
            return new Step.MergeAll(dataset);
        }
        return dice < 7 ? new Step.Repair(dataset) : null;
    }

    /** What happens between writes in a history; most times null, for nothing. */
    @Nullable
    Step incident() {
        int dice = random.nextInt(1_000);
        if (dice < 20) {
            return new Step.Check(id());
        } else if (dice < 40) {
            return new Step.Hold(dataset(), random.nextLong());
        } else if (dice < 66) {
            return new Step.LetGo(random.nextInt(1 << 10));
        } else if (dice < 70) {
            return new Step.Verify();
        } else if (dice < 76) {
            return new Step.Reopen(random.nextLong());
        } else if (dice < 82) {
            return new Step.CutPower(random.nextLong());
        }
        return dice > 960 ? new Step.Wander(random.nextInt(1 << 10)) : null;
    }

    Step.ChangeSchema schemaChange() {
        return new Step.ChangeSchema(random.nextLong());
    }
}
